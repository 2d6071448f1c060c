import assert from "node:assert/strict";
import { nextSteps } from "../../../../../providers/kubeadm/plan/rollout/next";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { desiredSoftware } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { nodeRolloutSteps } from "../../../../../providers/kubeadm/plan/steps";
import { nodeAt, poolsOf, desiredFor } from "./nodes";

describe("a rollout with an unreachable worker", () => {
  const dead = { ready: false, unreachable: true, reason: "NodeStatusUnknown" } as const;
  const REASON = "its Node is not Ready (NodeStatusUnknown)";
  const cluster = (over: Partial<RolloutNode> = {}) => [
    nodeAt("cp-1", "1.36.3"),
    nodeAt("w-1", "1.35.4"),
    nodeAt("w-2", "1.35.4", { ...dead, ...over }),
    nodeAt("w-3", "1.35.4"),
  ];
  const names = (steps: readonly { node: string }[]) => steps.map(({ node }) => node);

  for (const [what, over] of [
    ["keeps its pool from nothing", {}],
    ["keeps its pool from nothing when it is cordoned, too", { unschedulable: true }],
    [
      "keeps its pool from nothing when an earlier run had begun it",
      { changesAllowed: true, agentReady: false },
    ],
  ] as const)
    it(what, () => {
      const nodes = cluster(over);
      const desired = desiredFor(nodes, "1.36.3");
      const plan = planRollout(nodes, desired);
      assert.deepEqual(names(plan.steps), ["w-1", "w-3"]);
      assert.deepEqual(plan.leftOut, [{ node: "w-2", reason: REASON }]);
      assert.deepEqual(plan.refusals, []);
      assert.deepEqual(names(nextSteps(nodes, desired).begin), ["w-1"]);
    });

  it("is left out, too, when it is unreachable by SSH only", () => {
    const nodes = cluster({ ready: true, unreachable: undefined });
    const plan = planRollout(nodes, desiredFor(nodes, "1.36.3"), { unreached: ["w-2"] });
    assert.deepEqual(names(plan.steps), ["w-1", "w-3"]);
    assert.deepEqual(plan.leftOut, [{ node: "w-2", reason: "its machine could not be reached over SSH" }]);
  });

  it("is named at the end, when every other node is done, and continues when it is back", () => {
    const nodes = cluster().map((node) => (node.name === "w-2" ? node : nodeAt(node.name, "1.36.3")));
    const next = nextSteps(nodes, desiredFor(nodes, "1.36.3"));
    assert.deepEqual([next.done, next.leftOut], [true, [{ node: "w-2", reason: REASON }]]);
    const back = nodes.map((node) => (node.name === "w-2" ? nodeAt("w-2", "1.35.4") : node));
    assert.deepEqual(names(nextSteps(back, desiredFor(back, "1.36.3")).begin), ["w-2"]);
  });

  it("is not reported when it is paused or as desired", () => {
    const nodes = cluster();
    const paused = planRollout(nodes, desiredFor(nodes, "1.36.3", { pausedNodes: ["w-2"] }));
    assert.deepEqual([names(paused.steps), paused.leftOut], [["w-1", "w-3"], []]);
    const done = [nodeAt("cp-1", "1.36.3"), nodeAt("w-1", "1.36.3", dead)];
    assert.deepEqual(planRollout(done, desiredFor(done, "1.36.3")).leftOut, []);
  });

  it("stops the others when it became unreachable after its own step, as a failed node does", () => {
    const nodes = [nodeAt("cp-1", "1.36.3"), nodeAt("w-1", "1.36.3", dead), nodeAt("w-2", "1.35.4")];
    const next = nextSteps(nodes, desiredFor(nodes, "1.36.3"));
    assert.deepEqual(next.begin, []);
    assert.match(next.waiting.join(), /w-1 is not Ready/);
  });

  describe("that has what the others are to get", () => {
    const linesOf = (nodes: RolloutNode[], over: Parameters<typeof desiredFor>[2] = {}) => {
      const { steps, held, refusals } = planRollout(nodes, desiredFor(nodes, "1.36.3", over));
      assert.deepEqual(refusals, []);
      return [...names(steps), ...held.map(nodeRolloutSteps.format)];
    };
    const nodes = [nodeAt("cp-1", "1.36.3"), nodeAt("w-1", "1.36.3", dead), nodeAt("w-2", "1.35.4")];

    it("keeps them from it in the preview, too, after what can change", () => {
      const waits = (name: string, down: string) => `${name}: stays as it is until these are Ready: ${down}`;
      assert.deepEqual(linesOf(nodes), [waits("w-2", "w-1")]);
      const older = [nodeAt("cp-1", "1.36.2"), nodeAt("w-1", "1.36.3", dead), nodeAt("w-2", "1.36.2")];
      assert.deepEqual(linesOf(older), ["cp-1", waits("w-2", "w-1")]);
      const planes = [nodeAt("cp-1", "1.36.3"), nodeAt("cp-2", "1.36.3", dead), nodeAt("cp-3", "1.35.4")];
      assert.deepEqual(linesOf(planes), [waits("cp-3", "cp-2")]);
    });

    it("keeps none of them from it when it is paused, or when more may be unavailable", () => {
      assert.deepEqual(linesOf(nodes, { pausedNodes: ["w-1"] }), ["w-2"]);
      const pools = poolsOf(nodes, { w: { maxUnavailable: 2 } });
      assert.deepEqual(linesOf(nodes, { pools }), ["w-2"]);
    });

    it("keeps none of them from a repair of their own files, which is nothing that it got", () => {
      const drifted = nodes.map((node) => ({
        ...node,
        kubeletVersion: "1.36.3",
        current: {
          ...desiredSoftware({ software: {} }, "1.36.3", node),
          drift: node.name === "w-2" ? "0123456789ab" : "none",
        },
      }));
      assert.deepEqual(linesOf(drifted, { software: { drift: "none" } }), ["w-2"]);
    });

    it("is waited for while its kubelet reports, as the preview notes", () => {
      const starting = nodes.map((node) => (node.ready ? node : { ...node, unreachable: undefined }));
      const plan = planRollout(starting, desiredFor(starting, "1.36.3"));
      assert.deepEqual([names(plan.steps), plan.notes], [["w-2"], ["w-1 is not Ready: NodeStatusUnknown"]]);
      assert.equal(nextSteps(starting, desiredFor(starting, "1.36.3")).down, undefined);
    });
  });

  it("counts as unavailable, but never uses up the last one of a pool", () => {
    const nodes = [
      nodeAt("cp-1", "1.36.3"),
      ...["w-1", "w-2", "w-3", "w-4", "w-5"].map((w) => nodeAt(w, "1.35.4")),
    ];
    const begun = (gone: readonly string[]) => {
      const found = nodes.map((node) => (gone.includes(node.name) ? { ...node, ...dead } : node));
      const pools = poolsOf(found, { w: { maxUnavailable: 3 } });
      return names(nextSteps(found, desiredFor(found, "1.36.3", { pools })).begin);
    };
    assert.deepEqual(begun([]), ["w-1", "w-2", "w-3"]);
    assert.deepEqual(begun(["w-1"]), ["w-2", "w-3"]);
    assert.deepEqual(begun(["w-1", "w-2", "w-3", "w-4"]), ["w-5"]);
  });

  it("blocks the rollout as a control plane, since etcd needs it", () => {
    const nodes = [nodeAt("cp-1", "1.35.4"), nodeAt("cp-2", "1.35.4", dead), nodeAt("cp-3", "1.35.4")];
    const next = nextSteps(nodes, desiredFor(nodes, "1.36.3"));
    assert.deepEqual([next.begin, next.leftOut], [[], []]);
    assert.match(next.waiting.join(), /cp-2 is not Ready/);
  });

  it("causes a refusal of versions that would leave it too far behind", () => {
    const nodes = [nodeAt("cp-1", "1.35.4"), nodeAt("w-1", "1.32.13", dead)];
    const [refusal] = planRollout(nodes, desiredFor(nodes, "1.36.3")).refusals;
    assert.match(refusal ?? "", /w-1 is out of reach at 1\.32\.13.*bring it back/);
  });
});
