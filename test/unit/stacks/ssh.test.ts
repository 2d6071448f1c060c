import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { generateKey } from "../../../lib/ssh/generated-key";
import { ClusterInput, loadConfiguration } from "../../../stacks/schema";
import { cluster, controlPlane, HOST_KEY as hostKey, reader, worker } from "./schema/valid";

describe("a stack of the system ssh", () => {
  const machines = new Map<string, unknown>();
  const credentials = new Map<string, unknown>();
  let stack: typeof import("../../../stacks/ssh");

  before(async () => {
    await pulumi.runtime.setMocks({
      call: ({ inputs }) => inputs as object,
      newResource: ({ name, inputs }) => {
        const given = inputs as { machines?: unknown[]; credentials?: { value: unknown } };
        machines.set(name, given.machines);
        credentials.set(name, given.credentials?.value);
        return { id: name, state: { ...given, nodes: [], healthy: "cp-1", admin: {} } };
      },
    });
    stack = await import("../../../stacks/ssh.js");
  });

  it("completes machines from their addresses and from cluster.ssh, unless they have their own values", async () => {
    const two = [
      controlPlane({ hostKey }),
      worker({ hostKey, user: "other", port: 2022, internalAddress: "198.51.100.1" }),
    ];
    const file = loadConfiguration(reader(cluster({ machines: two, ssh: { user: "ops", port: 222 } })));
    assert.ok(file.system === "ssh");
    const { nodes } = stack.ssh(file);
    await new Promise((resolve) => nodes?.apply(resolve));
    const common = { hostKey, labels: {}, taints: [] };
    assert.deepEqual(machines.get("test-control-plane"), [
      {
        ...common,
        name: "cp-1",
        role: "control-plane",
        group: "control-plane",
        address: "192.0.2.11",
        port: 222,
        user: "ops",
        internalAddress: "192.0.2.11",
        apiServer: "192.0.2.11:6443",
      },
    ]);
    assert.deepEqual(machines.get("test-workers"), [
      {
        ...common,
        name: "w-1",
        role: "worker",
        group: "workers",
        address: "192.0.2.21",
        port: 2022,
        user: "other",
        internalAddress: "198.51.100.1",
        apiServer: "192.0.2.21:6443",
      },
    ]);
  });

  it("records the keys of machines without the jump host's, and an empty list as earlier releases did", async () => {
    const own = generateKey().private;
    const keys = JSON.stringify({ "w-1": own, jumpHost: generateKey().private });
    for (const [values, expected] of [
      [{}, {}],
      [{ "foresail:sshPrivateKeys": keys }, { "w-1": own }],
    ] as const) {
      const file = loadConfiguration(
        reader(cluster({ machines: [controlPlane({ hostKey }), worker({ hostKey })] }), values),
      );
      assert.ok(file.system === "ssh");
      const { nodes } = stack.ssh(file);
      await new Promise((resolve) => nodes?.apply(resolve));
      assert.deepEqual(credentials.get("test-init"), { privateKeys: expected });
    }
  });

  it("names a load balancer in the kubeconfig, unless control planes are reached in another way", () => {
    const external = { endpoint: { external: { host: "lb.example.com", port: 443 } } };
    const cases: [Record<string, unknown>, string | undefined][] = [
      [{}, undefined],
      [external, "lb.example.com:443"],
      [{ ...external, machines: [controlPlane({ apiServer: "192.0.2.99:16443" }), worker()] }, undefined],
    ];
    for (const [fields, expected] of cases)
      assert.equal(stack.loadBalancer(ClusterInput.parse(cluster(fields))), expected);
  });
});
