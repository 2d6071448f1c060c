import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { describeHostKeys } from "../../../../components/kubeadm/machines";
import { checkedCluster } from "../../../../components/kubeadm/validation";
import type { KubeadmClusterArgs, MachineArgs } from "../../../../components/kubeadm/kubeadm-cluster-args";

interface Registered {
  name: string;
  type: string;
  inputs: Record<string, unknown>;
  options: pulumi.CustomResourceOptions;
}

const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
let host = 0;
const machine = (name: string, over: Partial<MachineArgs> = {}): MachineArgs => ({
  name,
  role: name.startsWith("cp") ? "control-plane" : "worker",
  address: `192.0.2.${(host = (host % 250) + 1)}`,
  hostKey: HOST_KEY,
  ...over,
});

function promised<T>(output: pulumi.Output<T>): Promise<T> {
  return new Promise((resolve) => output.apply(resolve));
}

describe("KubeadmCluster", () => {
  let registered: Registered[];
  let leftOut: readonly string[];
  let KubeadmCluster: typeof import("../../../../components/kubeadm/kubeadm-cluster").KubeadmCluster;

  before(async () => {
    await pulumi.runtime.setMocks(
      {
        call: ({ inputs }) => inputs as Record<string, unknown>,
        newResource: ({ name, inputs, type }) => {
          const known = registered.find((resource) => resource.name === name && resource.type === type);
          if (known) known.inputs = inputs as Record<string, unknown>;
          // as the engine answers for what `--target` leaves out
          if (leftOut.includes(name)) return { id: "", state: {} };
          return {
            id: `${name}-id`,
            state: {
              ...(inputs as object),
              nodes: [],
              healthy: "cp-1",
              admin: { certificateAuthority: "Q0E=", clientCertificate: "Q0M=", clientKey: "S0VZ" },
            },
          };
        },
      },
      "project",
      "stack",
      false,
    );
    ({ KubeadmCluster } = await import("../../../../components/kubeadm/kubeadm-cluster.js"));
  });

  beforeEach(() => {
    registered = [];
    leftOut = [];
  });

  /** Makes a cluster and waits until all its resources are registered. */
  async function cluster(args: Partial<KubeadmClusterArgs> & { machines: MachineArgs[] }) {
    const spy: pulumi.ResourceTransformation = ({ name, type, opts }) => {
      registered.push({ name, type, inputs: {}, options: opts });
      return undefined;
    };
    const made = new KubeadmCluster(
      "demo",
      { version: "1.36.3", network: { plugin: { bridge: {} } }, ssh: { privateKey: "KEY" }, ...args },
      { transformations: [spy] },
    );
    await promised(made.nodes);
    await promised(pulumi.output(made.kubeconfig));
    return made;
  }

  const names = () => registered.map(({ name, type }) => `${type.split(":").pop()} ${name}`);
  const find = (name: string) => {
    const found = registered.find((resource) => resource.name === name);
    assert.ok(found, `${name} is not among ${registered.map((resource) => resource.name).join(", ")}`);
    return found;
  };
  const dependencies = (name: string) =>
    ((find(name).options.dependsOn ?? []) as pulumi.Resource[])
      .map((resource) => (resource as unknown as { __name: string }).__name)
      .sort();

  it("registers few resources: one command per machine, one group, and the cluster's own six", async () => {
    await cluster({ machines: [machine("cp-1"), machine("w-1"), machine("w-2")] });
    assert.deepEqual(names().sort(), [
      "AdminKubeconfig demo-kubeconfig",
      "ClusterInit demo-init",
      "ClusterOwner demo-owner",
      "Command demo-cp-1-prepare",
      "Command demo-w-1-prepare",
      "Command demo-w-2-prepare",
      "KubeadmCluster demo",
      "LoopbackEndpoint demo-endpoint",
      "NodeAgents demo-node-agents",
      "NodeGroup demo-control-plane",
      "NodeGroup demo-workers",
      "NodeRollout demo-rollout",
      "ReaderAccount demo-reader",
    ]);
  });

  it("follows the order of kubeadm: prepare, init, then control planes and workers beside each other", async () => {
    await cluster({ machines: [machine("cp-1"), machine("cp-2"), machine("cp-3"), machine("w-1")] });
    assert.deepEqual(dependencies("demo-init"), [
      "demo-cp-1-prepare",
      "demo-cp-2-prepare",
      "demo-cp-3-prepare",
      "demo-owner",
    ]);
    assert.deepEqual(dependencies("demo-cp-1-prepare"), ["demo-owner"]);
    assert.deepEqual(dependencies("demo-kubeconfig"), ["demo-init"]);
    assert.ok(dependencies("demo-control-plane").includes("demo-init"));
    assert.deepEqual(dependencies("demo-endpoint"), ["demo-control-plane"]);
    assert.deepEqual(dependencies("demo-workers"), ["demo-init", "demo-reader", "demo-w-1-prepare"]);
    assert.deepEqual(dependencies("demo-node-agents"), [
      "demo-control-plane",
      "demo-endpoint",
      "demo-init",
      "demo-workers",
    ]);
  });

  it("prepares with a pinned host key, its progress logged, and ignores what is not desired state", async () => {
    await cluster({ machines: [machine("cp-1")] });
    const { inputs, options } = find("demo-cp-1-prepare");
    // the connection as a whole is a secret, which the engine gets wrapped
    const connection = inputs.connection as { value: { hostKey: string; privateKey: string } };
    assert.deepEqual([connection.value.hostKey, connection.value.privateKey], [HOST_KEY, "KEY"]);
    assert.equal(inputs.logging, "stderr");
    assert.deepEqual(options.ignoreChanges, ["connection", "create", "stdin", "logging"]);
    assert.ok(!JSON.stringify(inputs.create).includes("KEY"));
  });

  it("dials as often as the SSH timeout allows, through the jump host with its own key", async () => {
    const jumpHost = { address: "192.0.2.1", hostKey: HOST_KEY, privateKey: "JUMP" };
    const timeouts = { sshSeconds: 60 };
    await cluster({
      machines: [machine("cp-1")],
      ssh: { privateKey: "KEY", jumpHost, dialTimeoutSeconds: 20 },
      timeouts,
    });
    const { value } = find("demo-cp-1-prepare").inputs.connection as { value: Record<string, unknown> };
    const proxy = value.proxy as Record<string, unknown>;
    assert.deepEqual([value.dialErrorLimit, value.perDialTimeout], [3, 20]);
    assert.deepEqual([proxy.dialErrorLimit, proxy.perDialTimeout], [3, 20]);
    assert.deepEqual([value.privateKey, proxy.privateKey, proxy.hostKey], ["KEY", "JUMP", HOST_KEY]);
  });

  it("accepts old names of arguments, and refuses an old and a current name together", async () => {
    const machines = [machine("cp-1")];
    const old = {
      network: { plugin: { bridge: {} }, podCidr: "10.9.0.0/16", serviceCidr: "10.8.0.0/16" },
      timeouts: { ssh: 20, prepare: 21, init: 22, join: 23, ready: 24, dial: 2 },
    };
    await cluster({ machines, ...(old as object) });
    const { specification, timeouts } = find("demo-init").inputs as {
      specification: { network: object };
      timeouts: object;
    };
    assert.deepEqual(specification.network, {
      ...{ podCidr: "10.9.0.0/16", serviceCidr: "10.8.0.0/16", dnsDomain: "cluster.local", bridge: true },
    });
    assert.deepEqual(timeouts, old.timeouts);
    const both = { timeouts: { ...old.timeouts, sshSeconds: 20 } as object };
    assert.throws(
      () => new KubeadmCluster("demo", { version: "1.36.3", machines, ...both }),
      /timeouts\.ssh: is the old name of timeouts\.sshSeconds, which is given, too; remove one/,
    );
  });

  it("prepares again under a new name when the revision changes", async () => {
    await cluster({ machines: [machine("cp-1")], bootstrapRevision: "2" });
    find("demo-cp-1-prepare-2");
  });

  it("resets all machines together on destroy, without a drain", async () => {
    await cluster({ machines: [machine("cp-1"), machine("w-1")] });
    for (const name of ["demo-control-plane", "demo-workers", "demo-endpoint"]) {
      const { deletedWith } = find(name).options as { deletedWith?: { __name: string } };
      assert.equal(deletedWith?.__name, "demo-init", name);
    }
  });

  it("protects the cluster's existence alone, so that a worker can leave", async () => {
    await cluster({ machines: [machine("cp-1"), machine("w-1")], deletionProtection: true });
    assert.deepEqual(
      registered.flatMap(({ name, options }) => (options.protect ? name : [])),
      ["demo-init"],
    );
  });

  it("creates one group per pool, each with its own machines", async () => {
    await cluster({ machines: [machine("cp-1"), machine("w-1"), machine("g-1", { pool: "gpu" })] });
    const { inputs } = find("demo-gpu");
    assert.deepEqual(
      (inputs.machines as { name: string; group: string }[]).map(({ name, group }) => `${name} ${group}`),
      ["g-1 gpu"],
    );
  });

  it("has no forwarders when the endpoint is highly available already", async () => {
    await cluster({
      machines: [machine("cp-1")],
      endpoint: { external: { host: "api.example.com", port: 6443 } },
    });
    assert.ok(!names().some((name) => name.includes("LoopbackEndpoint")));
  });

  it("names a load balancer in the users' kubeconfig, and not in its own", async () => {
    const made = await cluster({ machines: [machine("cp-1")], loadBalancer: "api.example.com:443" });
    const namesIn = (kubeconfig: unknown) =>
      [...JSON.stringify(kubeconfig).matchAll(/server: https:\/\/([\w.:-]+)/g)].map(([, server]) => server);
    const direct = namesIn(await promised(made.directKubeconfig));
    assert.equal(direct.length, 1);
    assert.deepEqual(namesIn(await promised(made.kubeconfig)), ["api.example.com:443", ...direct]);
    // a secret is wrapped
    assert.deepEqual(namesIn(find("demo-reader").inputs.kubeconfig), direct);
  });

  it("reads a host key at first contact only when none is configured", async () => {
    await cluster({ machines: [machine("cp-1"), machine("w-1", { hostKey: undefined })] });
    assert.deepEqual(
      names().filter((name) => name.startsWith("HostKey")),
      ["HostKey demo-w-1-host-key"],
    );
  });

  it("refuses each machine without a host key when host keys are required, and registers nothing", () => {
    const machines = [
      machine("cp-1"),
      machine("w-1", { hostKey: undefined }),
      machine("w-2", { hostKey: undefined }),
    ];
    assert.throws(
      () => new KubeadmCluster("demo", { version: "1.36.3", machines, ssh: { requireHostKeys: true } }),
      (error: pulumi.InputPropertiesError) => {
        const paths = error.errors.map(({ propertyPath }) => propertyPath);
        assert.deepEqual(paths, ["machines[1].hostKey", "machines[2].hostKey"]);
        return true;
      },
    );
    assert.deepEqual(names(), []);
  });

  it("shows in a preview whether host keys are required, and whose key is pinned at first contact", () => {
    const machines = [machine("cp-1"), machine("w-1", { hostKey: undefined })];
    const described = (some: MachineArgs[], ssh = {}) =>
      describeHostKeys(checkedCluster("demo", { version: "1.36.3", machines: some, ssh }));
    const first = machines.slice(0, 1);
    assert.equal(described(first, { requireHostKeys: true }), "ssh.requireHostKeys is on");
    assert.equal(described(first), "ssh.requireHostKeys is off");
    assert.equal(described(machines), "ssh.requireHostKeys is off; pinned at first contact: w-1");
  });

  it("refuses arguments that can't make a cluster, all at once, before anything is registered", () => {
    const machines = [machine("cp-1"), machine("cp-1"), machine("Worker")];
    assert.throws(
      () => new KubeadmCluster("demo", { version: "v1.36", machines }),
      (error: pulumi.InputPropertiesError) => {
        const paths = error.errors.map(({ propertyPath }) => propertyPath);
        assert.deepEqual(paths, ["version", "machines[2].name", "machines[1].name", "machines"]);
        return true;
      },
    );
  });

  it("applies the rules of the stack file to a program's arguments", () => {
    const ownTaint = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" } as const;
    const wrong: Partial<KubeadmClusterArgs> = {
      kubeadm: { clusterConfiguration: { apiServer: null, etcd: { external: {} } } },
      kubelet: { featureGates: "x" },
      network: { plugin: { cilium: { values: { ipam: { mode: "" } } } } },
      endpoint: { external: { host: "127.0.0.1", port: 2379 } },
      files: [{ path: "/etc", content: "", mode: "rw", owner: "a b" }],
      proxy: { http: 'http://a/"', noProxy: ["a\nb"] },
      rollout: { software: { osPackages: "a_b" } },
    };
    assert.throws(
      () =>
        new KubeadmCluster("demo", {
          version: "1.36.3",
          machines: [machine("cp-1", { taints: [ownTaint] })],
          ...wrong,
        }),
      (error: pulumi.InputPropertiesError) => {
        assert.deepEqual(error.errors.map(({ propertyPath }) => propertyPath).sort(), [
          "endpoint.external.host",
          "endpoint.external.port",
          "files[0].mode",
          "files[0].owner",
          "files[0].path",
          "kubeadm.clusterConfiguration.apiServer",
          "kubeadm.clusterConfiguration.etcd.external",
          "kubelet.featureGates",
          "machines[0].taints[0]",
          "network.plugin.cilium.values.ipam",
          "proxy.http",
          "proxy.noProxy[0]",
          "rollout.software.osPackages",
        ]);
        return true;
      },
    );
  });

  it("has an empty kubeconfig when --target leaves out what reads it, and does not fail", async () => {
    leftOut = ["demo-kubeconfig"];
    const made = await cluster({ machines: [machine("cp-1")] });
    assert.equal(await promised(made.kubeconfig), "");
    assert.equal(await pulumi.isSecret(made.kubeconfig), true);
  });

  it("keeps the kubeconfig and the credentials secret", async () => {
    const made = await cluster({ machines: [machine("cp-1")] });
    assert.equal(await pulumi.isSecret(made.kubeconfig), true);
    const { options } = find("demo-kubeconfig");
    assert.deepEqual((options as { additionalSecretOutputs?: string[] }).additionalSecretOutputs, ["admin"]);
  });
});
