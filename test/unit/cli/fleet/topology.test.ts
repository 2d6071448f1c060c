import assert from "node:assert/strict";
import { topologyOf } from "../../../../cli/fleet/plan/topology";

const machine = (name: string, group: string, labels: Record<string, string> = {}) => ({
  ...{ name, group, labels },
  role: group === "control-plane" ? group : "worker",
});
const own = (kind: string) => `pulumi-nodejs:dynamic/foresail:${kind}`;
const zone = (name: string) => ({ "topology.kubernetes.io/zone": name });

describe("the topology of a previewed cluster", () => {
  it("has the machines that stay, join and leave, by zone, and both versions", () => {
    const [cp, gone, come] = [
      machine("cp-1", "control-plane", zone("a")),
      machine("w-1", "w"),
      machine("w-2", "w"),
    ];
    const rollout = (version: string, ...machines: object[]) => ({ specification: { version }, machines });
    const { machines, ...others } = topologyOf([
      { type: "foresail:kubeadm:KubeadmCluster" },
      { type: "foresail:openstack:OpenstackCluster" },
      {
        type: own("NodeRollout"),
        before: rollout("1.35.4", cp, gone),
        after: rollout("1.36.3", cp, come),
      },
      { type: "openstack:compute/instance:Instance", after: { name: "w-2", availabilityZone: "b" } },
      {
        type: "openstack:compute/instance:Instance",
        before: { name: "w-1", metadata: { "foresail-zone": "c" } },
      },
    ]);
    assert.deepEqual(others, { system: "openstack", version: { from: "1.35.4", to: "1.36.3" }, counts: [] });
    assert.deepEqual(
      machines.map((one) => [one.name, one.role, one.pool, one.zone, one.change]),
      [
        ["cp-1", "control-plane", "control-plane", "a", "stays"],
        ["w-1", "worker", "w", "c", "leaves"],
        ["w-2", "worker", "w", "b", "joins"],
      ],
    );
  });

  it("counts the nodes that Cluster API names itself", () => {
    const pool = topologyOf([
      { type: "foresail:machine-pool:MachinePool" },
      { type: own("MachinePoolReady"), after: { name: "pool-a", replicas: 3, version: "1.30.0" } },
    ]);
    assert.deepEqual(
      [pool.system, pool.version, pool.counts],
      ["machine-pool", { to: "1.30.0" }, [{ name: "pool-a", count: 3 }]],
    );
    const azimuth = topologyOf([
      { type: "foresail:azimuth:AzimuthCluster" },
      {
        type: "kubernetes:helm.sh/v3:Release",
        after: {
          values: { controlPlane: { machineCount: 3 }, nodeGroups: [{ name: "md-0", machineCount: 2 }] },
        },
      },
    ]);
    assert.deepEqual(azimuth.counts, [
      { name: "control-plane", count: 3 },
      { name: "md-0", count: 2 },
    ]);
  });

  it("of a program without foresail's components, or with unknown inputs, is empty", () => {
    const unknown = { machines: "04da6b54-80e4-46f7-96ec-b56ff0331ba9", specification: "04da6b54" };
    for (const resources of [[], [{ type: own("NodeRollout"), after: unknown }]])
      assert.deepEqual(topologyOf(resources), { system: "", version: {}, machines: [], counts: [] });
  });
});
