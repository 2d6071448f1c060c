import assert from "node:assert/strict";
import { blockedDrains, type Budget, type PlacedPod } from "../../../core/drain/budgets";

const allow = { deleteEmptyDirData: false, force: false };
const pod = (name: string, nodeName: string, over: Partial<PlacedPod> = {}): PlacedPod => ({
  metadata: {
    name,
    namespace: "web",
    labels: { app: "web", tier: "front" },
    ownerReferences: [{ kind: "ReplicaSet", name: "web", controller: true }],
  },
  spec: { nodeName },
  status: { phase: "Running" },
  ...over,
});
const budget = (selector: NonNullable<Budget["spec"]>["selector"], disruptionsAllowed = 0): Budget => ({
  metadata: { name: "web", namespace: "web" },
  spec: { selector },
  status: { disruptionsAllowed },
});
const held =
  "w-1: the drain would wait: web/a is held by the PodDisruptionBudget web, which allows no disruption now";

describe("drains that would be blocked now", () => {
  it("name the pod and the budget, on the nodes that are asked about", () => {
    const pods = [pod("a", "w-1"), pod("b", "w-2")];
    assert.deepEqual(blockedDrains(["w-1"], pods, [budget({ matchLabels: { app: "web" } })], allow), [held]);
  });

  for (const [what, selector, isHeld] of [
    ["an empty selector", {}, true],
    ["no selector", null, false],
    ["other labels", { matchLabels: { app: "db" } }, false],
    ["In", { matchExpressions: [{ key: "tier", operator: "In", values: ["front"] }] }, true],
    ["NotIn", { matchExpressions: [{ key: "tier", operator: "NotIn", values: ["front"] }] }, false],
    ["Exists", { matchExpressions: [{ key: "tier", operator: "Exists" }] }, true],
    ["DoesNotExist", { matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] }, false],
  ] as const)
    it(`${isHeld ? "are" : "are not"} by a budget with ${what}`, () => {
      const selected = selector as Parameters<typeof budget>[0];
      const found = blockedDrains(["w-1"], [pod("a", "w-1")], [budget(selected)], allow);
      assert.deepEqual(found, isHeld ? [held] : []);
    });

  it("are none while the budget allows a disruption, for a finished pod, or in another namespace", () => {
    const all = budget({});
    assert.deepEqual(blockedDrains(["w-1"], [pod("a", "w-1")], [budget({}, 1)], allow), []);
    const finished = pod("a", "w-1", { status: { phase: "Succeeded" } });
    assert.deepEqual(blockedDrains(["w-1"], [finished], [all], allow), []);
    const elsewhere = { ...all, metadata: { name: "web", namespace: "other" } };
    assert.deepEqual(blockedDrains(["w-1"], [pod("a", "w-1")], [elsewhere], allow), []);
  });

  it("name pods that may not be evicted at all", () => {
    const bare = pod("a", "w-1", { metadata: { name: "a", namespace: "web" } });
    assert.match(
      blockedDrains(["w-1"], [bare], [], allow)[0] ?? "",
      /^w-1: the drain would be refused: web\/a has no controller/,
    );
  });
});
