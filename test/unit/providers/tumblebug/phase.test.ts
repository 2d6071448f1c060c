import assert from "node:assert/strict";
import type { StateResources } from "../../../../lib/pulumi/state";
import { recordedCluster, recordedStatus } from "../../../../providers/tumblebug/plan/recorded-state";

describe("the phase of a cluster", () => {
  const type = (name: string) => `pulumi-nodejs:dynamic/foresail:${name}`;
  const plan = {
    "urn:pulumi:test::foresail::any:of:Type::k1-plan": {
      type: type("TumblebugPlan"),
      outputs: { mark: "m" },
    },
  };
  const failure = { reason: "CreateMCISFailedReason", message: "w-1: no room" };
  const mcis = (outputs: object) => ({
    "urn:pulumi:test::foresail::any:of:Type::k1-machines": {
      type: type("TumblebugMcis"),
      outputs: { ...outputs },
    },
  });
  const rollout = {
    "urn:pulumi:test::foresail::any:of:Type::k1-rollout": { type: type("NodeRollout"), outputs: {} },
  };
  const slots = ["cp-1", "w-1"].map((machine) => ({
    machine,
    role: machine === "w-1" ? "worker" : "control-plane",
  }));
  const machines = mcis({ slots, vms: { "cp-1": {}, "w-1": {} } });
  const made = (kind: string, name: string) => ({
    [`urn:pulumi:test::foresail::any:of:Type::${name}`]: { type: kind, outputs: {} },
  });
  const prepared = (name: string) => made("command:remote:Command", `k1-${name}-prepare`);
  const own = (kind: string, name: string) => made(type(kind), `k1-${name}`);
  const steps = [
    prepared("cp-1"),
    prepared("w-1"),
    own("ClusterInit", "init"),
    own("NodeGroup", "control-plane"),
    own("NodeGroup", "workers"),
    own("NodeAgents", "node-agents"),
  ];
  const endedAt = [
    ["SetupBoostrapFailedReason", "the preparation of cp-1, w-1"],
    ["SetupBoostrapFailedReason", "the preparation of w-1"],
    ["InitControlPlaneFailedReason", "kubeadm init"],
    ["SetupNetworkCNIFailedReason", "the pod network"],
    ["JoinControlPlaneFailedReason", "the join of the control planes"],
    ["JoinWorkerFailedReason", "the workers"],
  ] as const;
  for (const [count, [reason, step]] of endedAt.entries())
    it(`after a run that ended at ${step} is Failed with CB-Ladybug's code`, () => {
      const state = Object.assign({}, plan, machines, ...steps.slice(0, count)) as StateResources;
      const status = recordedStatus(recordedCluster("k1", state));
      assert.equal(status.phase, "Failed");
      assert.equal(status.reason, reason);
      assert.ok(status.message.startsWith(`the last run ended at ${step}; the next \`up\` continues`));
      const balanced = recordedStatus(recordedCluster("k1", state), true);
      assert.equal(balanced.reason, "CreateNLBFailedReason");
    });

  it("is Provisioning while only the node agents are missing, and Failed by its VMs first", () => {
    const state = Object.assign({}, plan, machines, ...steps) as StateResources;
    assert.equal(recordedStatus(recordedCluster("k1", state)).phase, "Provisioning");
    const failed = { ...plan, ...mcis({ slots, vms: { "cp-1": {}, "w-1": {} }, failure }) };
    assert.deepEqual(recordedStatus(recordedCluster("k1", failed)), { phase: "Failed", ...failure });
  });

  for (const [what, state, phase] of [
    ["before the first run", {}, "Pending"],
    ["after a run that was cut off", plan, "Provisioning"],
    ["after a run whose VMs failed", { ...plan, ...mcis({ failure }) }, "Failed"],
    ["when every node is there", { ...plan, ...mcis({ vms: {} }), ...rollout }, "Provisioned"],
    [
      "of another cluster in the stack",
      {
        "urn:pulumi:test::foresail::any:of:Type::k2-plan": {
          type: type("TumblebugPlan"),
          outputs: { mark: "m" },
        },
      },
      "Pending",
    ],
  ] as const)
    it(`${what} is ${phase}`, () => {
      const status = recordedStatus(recordedCluster("k1", state));
      assert.equal(status.phase, phase);
      if (phase === "Failed") assert.deepEqual(status, { phase, ...failure });
    });
});

describe("the machines that earlier runs were to have", () => {
  const type = (name: string) => `pulumi-nodejs:dynamic/foresail:${name}`;
  const slots = (...names: string[]) =>
    names.map((machine) => ({ machine, vmGroup: machine, role: "worker" }));
  const planned = (...names: string[]) => names.map((machine) => ({ machine, vmGroup: machine }));
  const recorded = (plan: object, mcis: object) =>
    recordedCluster("k1", {
      "urn:pulumi:test::foresail::any:of:Type::k1-plan": {
        type: type("TumblebugPlan"),
        outputs: { ...plan },
      },
      "urn:pulumi:test::foresail::any:of:Type::k1-machines": {
        type: type("TumblebugMcis"),
        outputs: { ...mcis },
      },
    });
  const vms = { "w-1": {} };

  it("are those of the last run, of which none is unrecorded when its VMs are in the state", () => {
    const state = recorded({ slots: slots("w-1") }, { slots: slots("w-1"), vms });
    assert.deepEqual([state.planned, state.unrecorded], [planned("w-1"), []]);
  });

  it("stay known when a killed run is followed by one that is killed before it deletes their VMs", () => {
    // a scale-up to w-2 was killed after it created the VM
    const killed = recorded({ slots: slots("w-1", "w-2") }, { slots: slots("w-1"), vms });
    assert.deepEqual(killed.unrecorded, planned("w-2"));
    // the next run is not to have w-2, and was killed after its plan was recorded
    const again = recorded(
      { slots: slots("w-1"), unrecorded: killed.unrecorded },
      { slots: slots("w-1"), vms },
    );
    assert.deepEqual(again.planned, planned("w-1", "w-2"));
    // after a run to the end, the next change of the plan forgets it
    assert.deepEqual(again.unrecorded, []);
  });
});
