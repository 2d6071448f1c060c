import assert from "node:assert/strict";
import { type MachineDeployment, readiness } from "../../../../providers/azimuth/plan/readiness";
import type { ClusterObjects } from "../../../../providers/azimuth/plan/record";
import type { ApiMachine } from "../../../../providers/azimuth/plan/status";

const machine = (name: string, component: string, phase = "Running"): ApiMachine => ({
  metadata: { name, labels: { "capi.stackhpc.com/component": component } },
  spec: { version: "v1.36.3" },
  status: { phase, conditions: [{ type: "NodeHealthy", status: phase === "Running" ? "True" : "False" }] },
});
const controlPlane = (reason?: string) => ({
  status: {
    conditions: [
      { type: "Ready", status: reason === undefined ? "True" : "False", reason },
      { type: "ControlPlaneComponentsHealthy", status: "True" },
    ],
  },
});
const deployment = (status: MachineDeployment["status"], generation = 1): MachineDeployment => ({
  metadata: { name: "workers", generation },
  spec: { replicas: 2 },
  status,
});
const READY = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2 };

const judge = (over: Partial<ClusterObjects & { deployments: MachineDeployment[] }> = {}, leased = false) =>
  readiness(
    {
      machines: [machine("cp-1", "control-plane"), machine("w-1", "worker"), machine("w-2", "worker")],
      addons: [],
      controlPlane: controlPlane(),
      networkingPhase: "Provisioned",
      deployments: [deployment(READY)],
      ...over,
    },
    { leased, now: 0 },
  );

describe("the readiness of a cluster through Azimuth", () => {
  it("is given when the control plane, every machine and every MachineDeployment are ready", () =>
    assert.deepEqual(judge(), { ready: true, phase: "Ready" }));

  it("does not depend on addons, which count for the phase only", () => {
    const addon = (phase: string) => ({
      metadata: { labels: { "capi.stackhpc.com/component": "ingress" } },
      status: { phase },
    });
    assert.deepEqual(judge({ addons: [addon("Installing")] }), { ready: true, phase: "Reconciling" });
    assert.deepEqual(judge({ addons: [addon("Failed")] }), { ready: true, phase: "Unhealthy" });
  });

  const missing: [what: string, over: Parameters<typeof judge>[0], why: RegExp][] = [
    ["the cluster", { networkingPhase: undefined }, /^Pending \(network Unknown/],
    ["the network", { networkingPhase: "Provisioning" }, /^Reconciling \(network Provisioning/],
    ["the network, for good", { networkingPhase: "Failed" }, /^Failed \(network Failed/],
    ["a control plane", { controlPlane: undefined }, /control plane Unknown/],
    ["a control plane that scales", { controlPlane: controlPlane("ScalingUp") }, /control plane ScalingUp/],
    [
      "a machine",
      { machines: [machine("cp-1", "control-plane"), machine("w-1", "worker", "Provisioning")] },
      /w-1 Provisioning/,
    ],
    [
      "machines that do not exist yet",
      { deployments: [deployment({})] },
      /workers: 0 of 2 machines are ready/,
    ],
    [
      "machines of the new version",
      { deployments: [deployment({ ...READY, updatedReplicas: 1 })] },
      /workers: 1 of 2 machines are ready/,
    ],
    [
      "an observed change",
      { deployments: [deployment(READY, 2)] },
      /workers: its change is not observed yet/,
    ],
    [
      "the end of old machines",
      { deployments: [deployment({ ...READY, replicas: 3 })] },
      /workers: 1 machines leave/,
    ],
  ];
  for (const [what, over, why] of missing)
    it(`waits for ${what}`, () => {
      const judged = judge(over);
      assert.ok(!judged.ready);
      assert.match(judged.why, why);
    });

  it("waits for an active Lease, and names at most five machines", () => {
    const judged = judge({ leasePhase: "Pending" }, true);
    assert.ok(!judged.ready && judged.why.startsWith("Pending"));
    const machines = Array.from({ length: 9 }, (_, index) => machine(`w-${index}`, "worker", "Pending"));
    const many = judge({ machines });
    assert.match(many.ready ? "" : many.why, /w-4 Pending, and 4 more\)$/);
  });
});
