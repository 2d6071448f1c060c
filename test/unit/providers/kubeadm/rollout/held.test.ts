import assert from "node:assert/strict";
import fc from "fast-check";
import { nextSteps } from "../../../../../providers/kubeadm/plan/rollout/next";
import { planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { nodeRolloutSteps } from "../../../../../providers/kubeadm/plan/steps";
import { desiredFor, nodeAt } from "./nodes";
import { restingScenario } from "./scenarios";

const [OLD, NEW] = ["1.35.4", "1.36.3"] as const;

describe("a rollout while later runs replace machines", () => {
  const nodes = ["cp-1", "cp-2", "w-1", "w-2"].map((name) => nodeAt(name, OLD));
  const planOf = (leavingLater: string[], found = nodes) => {
    const plan = planRollout(found, desiredFor(found, NEW, { leavingLater }));
    assert.deepEqual(plan.refusals, []);
    return { steps: plan.steps.map(({ node }) => node), held: plan.held.map(nodeRolloutSteps.format) };
  };
  const leaves = (name: string, version: string = OLD) =>
    `${name}: stays at ${version}, since a later run replaces or removes it`;
  const waits = (name: string, machines: string) =>
    `${name}: stays at ${OLD} until later runs have replaced or removed ${machines}`;

  it("upgrades every other node, and lists the workers that it leaves to their replacement", () => {
    assert.deepEqual(planOf([]), { steps: ["cp-1", "cp-2", "w-1", "w-2"], held: [] });
    assert.deepEqual(planOf(["w-1"]), { steps: ["cp-1", "cp-2", "w-2"], held: [leaves("w-1")] });
  });

  it("waits with all nodes for a control plane, since workers may not be newer", () => {
    assert.deepEqual(planOf(["cp-2", "w-1"]), {
      steps: [],
      held: [waits("cp-1", "cp-2"), leaves("cp-2"), leaves("w-1"), waits("w-2", "cp-2")],
    });
  });

  it("waits with all nodes for a worker that would be too old for the control planes", () => {
    const old = [nodeAt("cp-1", OLD), nodeAt("w-1", "1.32.13")];
    assert.deepEqual(planOf(["w-1"], old), {
      steps: [],
      held: [waits("cp-1", "w-1"), leaves("w-1", "1.32.13")],
    });
  });

  it("lists no node that has nothing to do", () => {
    const done = nodes.map(({ name }) => nodeAt(name, NEW));
    assert.deepEqual(planOf(["cp-1", "w-1"], done), { steps: [], held: [] });
  });

  it("finishes a node that an earlier run began, so that it does not stay cordoned", () => {
    const begun = nodes.map((node) =>
      node.name === "cp-1"
        ? {
            ...node,
            changesAllowed: true,
            agentReady: false,
            desired: { kubelet: NEW, kubeadm: NEW, kubectl: NEW },
          }
        : node,
    );
    assert.deepEqual(planOf(["cp-2"], begun).steps, ["cp-1"]);
  });

  it("never changes a machine that leaves later, refuses nothing, and ends", () => {
    const calm = restingScenario.map(({ nodes, desired }) => {
      return { desired, nodes: nodes.map((node) => ({ ...node, unschedulable: false })) };
    });
    fc.assert(
      fc.property(calm, fc.array(fc.nat(20), { maxLength: 4 }), ({ nodes, desired }, picks) => {
        fc.pre(planRollout(nodes, desired).refusals.length === 0);
        const leavingLater = picks.map((pick) => nodes[pick % nodes.length]?.name ?? "");
        const plan = planRollout(nodes, { ...desired, leavingLater });
        assert.deepEqual(plan.refusals, []);
        const changed = plan.steps.map(({ node }) => node);
        assert.deepEqual(
          changed.filter((name) => leavingLater.includes(name)),
          [],
        );
        const held = plan.held.flatMap((step) => ("machine" in step ? [step.machine] : []));
        const all = planRollout(nodes, desired).steps.map(({ node }) => node);
        assert.deepEqual([...new Set([...changed, ...held])].sort(), [...new Set(all)].sort());
        if (changed.length === 0) assert.ok(nextSteps(nodes, { ...desired, leavingLater }).done);
      }),
      { numRuns: 500 },
    );
  });
});
