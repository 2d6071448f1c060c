/** What programs of 0.1.0 could write, and what worked, is accepted, and means the same. */
import assert from "node:assert/strict";
import { describeMachines } from "../../../components/kubeadm/machines";
import { checkedCluster } from "../../../components/kubeadm/validation";
import { checkedOpenstack } from "../../../components/openstack/openstack-cluster-args";
import { checkedTumblebug } from "../../../components/tumblebug/tumblebug-cluster-args";

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
const access = { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] };
const version = "1.36.3";

const POOL = { role: "control-plane", replicas: 1, image: "debian" } as const;
const openstack = (args: object = {}, pool: object = {}, cluster: object = {}) =>
  checkedOpenstack("demo", {
    ...{ access, network: { externalNetwork: "public" }, keypair: { publicKey: KEY } },
    pools: [
      { ...POOL, name: "cp", flavor: "m1", ...pool },
      { ...POOL, name: "w", role: "worker", flavor: "m1", replicas: 0 },
    ],
    cluster: { version, ...cluster },
    ...args,
  });
const tumblebug = (cluster: object) =>
  checkedTumblebug("demo", {
    ...{ address: "https://t.example.org", namespace: "ns1", connections: [{ name: "aws" }], access },
    groups: [{ ...POOL, name: "cp", connection: "aws", spec: "t3" }],
    cluster: { version, ...cluster },
  });
const cluster = (args: object, machine: object = {}, worker: object = {}) =>
  checkedCluster("demo", {
    version,
    machines: [
      { name: "cp-1", role: "control-plane", address: "192.0.2.1", ...machine },
      { name: "w-1", role: "worker", address: "192.0.2.2", ...worker },
    ],
    ...args,
  });

describe("arguments that programs of 0.1.0 could write", () => {
  const internalAddress = "198.51.100.1";
  const cases: [string, () => unknown][] = [
    [
      "accounts of a directory",
      () => cluster({ ssh: { user: "CORP\\admin" } }, { user: "admin@corp.example" }),
    ],
    ["no user", () => cluster({ ssh: { user: "" } }, { user: "" })],
    [
      "a jump host in IPv6",
      () => cluster({ ssh: { jumpHost: { address: "2001:db8::1", hostKey: KEY, user: "" } } }),
    ],
    ["a worker in IPv6", () => cluster({}, {}, { address: "2001:db8::1", internalAddress })],
    [
      "a control plane in IPv6",
      () => cluster({}, { address: "2001:db8::1", internalAddress, apiServer: "[2001:db8::1]:6443" }),
    ],
    [
      "names with an underscore or a dot at the end",
      () => cluster({}, { address: "cp_1.example.org.", internalAddress }),
    ],
    [
      "an address for SSH in a block of the cluster",
      () => cluster({}, { address: "10.100.0.5", internalAddress }),
    ],
    ["no internal address", () => cluster({}, { internalAddress: "" })],
    [
      "no version and repository of a chart",
      () =>
        cluster({
          network: {
            plugin: { chart: { chart: "./cni", repository: "", version: "", namespace: "kube-system" } },
          },
        }),
    ],
    ["no region", () => openstack({ region: "" })],
    ["no zone and volume type", () => openstack({}, { zones: [""], rootVolume: { sizeGiB: 20, type: "" } })],
    [
      "no versions of the cloud's charts",
      () =>
        openstack({
          cloudProvider: { enabled: true, cinder: { version: "" }, cloudControllerManager: { version: "" } },
        }),
    ],
    [
      "that fields of existing machines are off, on OpenStack",
      () => openstack({}, {}, { adopt: false, resetOnDestroy: false, allowEvenControlPlanes: true }),
    ],
    [
      "that fields of existing machines are off, on CB-Tumblebug",
      () => tumblebug({ adopt: false, resetOnDestroy: false, allowEvenControlPlanes: false }),
    ],
  ];
  for (const [title, make] of cases) it(`may say: ${title}`, () => assert.doesNotThrow(make));

  it("still need what nothing else tells", () => {
    assert.throws(
      () => cluster({}, { address: "10.100.0.5" }),
      /machines\[0\]\.address: .* is in cluster\.network/,
    );
    assert.throws(
      () => cluster({}, { internalAddress: "10.100.0.5" }),
      /machines\[0\]\.internalAddress: .* is in/,
    );
    assert.throws(
      () => cluster({}, { address: "2001:db8::1", internalAddress }),
      /machines\[0\]\.apiServer: is missing/,
    );
    assert.throws(
      () => cluster({}, { address: "cp.example.org", internalAddress: "" }),
      /internalAddress: is missing/,
    );
    assert.throws(() => openstack({}, {}, { adopt: true }), /cluster\.adopt: is only for the system "ssh"/);
    for (const user of [" a", "a\nb"]) assert.throws(() => cluster({ ssh: { user } }), /ssh\.user: /);
  });

  it("take an empty text for none", () => {
    const key = { hostKey: KEY };
    const args = cluster({ ssh: { user: "" } }, { user: "", internalAddress: "", ...key }, key);
    const [first] = describeMachines("demo", args, { timeouts: {} } as never, {});
    assert.deepEqual([first?.user, first?.internalAddress], ["root", "192.0.2.1"]);
  });
});

describe("a cluster on machines that a component makes", () => {
  it("may name a pool that has no machines, and a machine that is gone", () => {
    const rollout = { pools: { w: { paused: true } }, pausedNodes: ["w-3-abcde"] };
    const checked = openstack({}, {}, { rollout });
    const machines = [{ name: "cp-1-abcde", role: "control-plane" as const, address: "192.0.2.1" }];
    const args = { ...checked.cluster, machines, endpoint: { loopback: { port: 7445 } }, provided: true };
    assert.doesNotThrow(() => checkedCluster("demo", args));
    assert.throws(() => cluster({ rollout }), /rollout\.pools\.w: "w" is not a pool/);
  });
});
