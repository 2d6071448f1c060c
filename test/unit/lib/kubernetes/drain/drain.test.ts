import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type PodParts, planDrain, namespacedName } from "../../../../../lib/kubernetes/drain/plan";

const controlled = (kind: string) => ({ ownerReferences: [{ kind, name: "o", controller: true }] });
const emptyDir = { volumes: [{ name: "tmp", emptyDir: {} }] };
const none = { deleteEmptyDirData: false, force: false };
const data = { ...none, deleteEmptyDirData: true };
const force = { ...none, force: true };

type Verdict = "evict" | "leaving" | "skip" | "refuse";
const table: [name: string, pod: PodParts, allow: typeof none, verdict: Verdict, why?: RegExp][] = [
  ["a pod of a ReplicaSet goes", { metadata: controlled("ReplicaSet") }, none, "evict"],
  ["a pod of a DaemonSet stays", { metadata: controlled("DaemonSet") }, none, "skip", /DaemonSet/],
  [
    "a DaemonSet's pod stays even with emptyDir",
    { metadata: controlled("DaemonSet"), spec: emptyDir },
    none,
    "skip",
  ],
  [
    "a static pod stays",
    { metadata: { ...controlled("Node"), annotations: { "kubernetes.io/config.mirror": "x" } } },
    none,
    "skip",
    /static/,
  ],
  ["emptyDir is refused", { metadata: controlled("Job"), spec: emptyDir }, none, "refuse", /emptyDir tmp/],
  ["emptyDir goes when allowed", { metadata: controlled("Job"), spec: emptyDir }, data, "evict"],
  ["a lone pod is refused", { metadata: {} }, none, "refuse", /no controller/],
  ["a lone pod goes when forced", { metadata: {} }, force, "evict"],
  ["a lone pod with emptyDir needs both", { metadata: {}, spec: emptyDir }, force, "refuse", /emptyDir/],
  [
    "an owner that is not a controller does not count",
    { metadata: { ownerReferences: [{ kind: "Node", name: "n" }] } },
    none,
    "refuse",
  ],
  [
    "a finished lone pod goes",
    { metadata: {}, spec: emptyDir, status: { phase: "Succeeded" } },
    none,
    "evict",
  ],
  [
    "a failed pod of a DaemonSet goes",
    { metadata: controlled("DaemonSet"), status: { phase: "Failed" } },
    none,
    "evict",
  ],
  [
    "a pod on its way out is only waited for",
    { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, spec: emptyDir },
    none,
    "leaving",
  ],
];

describe("planDrain", () => {
  for (const [name, pod, allow, verdict, why] of table) {
    it(name, () => {
      const plan = planDrain([pod], allow);
      const lengths = { evict: 0, leaving: 0, skip: 0, refuse: 0, [verdict]: 1 };
      const counts = { evict: plan.evict.length, leaving: plan.leaving.length, skip: plan.skip.length };
      assert.deepEqual({ ...counts, refuse: plan.refuse.length }, lengths);
      if (why) assert.match([...plan.skip, ...plan.refuse][0]!.why, why);
    });
  }

  it("puts every pod in one list, and an allowance never keeps a pod that is evicted without it", () => {
    const pods = fc.array(fc.constantFrom(...table.map(([, pod]) => pod)));
    const allowances = fc.record({ deleteEmptyDirData: fc.boolean(), force: fc.boolean() });
    fc.assert(
      fc.property(pods, allowances, (some, allow) => {
        const plan = planDrain(some, allow);
        const all = [plan.evict, plan.leaving, plan.skip, plan.refuse].reduce(
          (sum, list) => sum + list.length,
          0,
        );
        assert.equal(all, some.length);
        assert.ok(plan.evict.length >= planDrain(some, none).evict.length);
        assert.equal(planDrain(some, { deleteEmptyDirData: true, force: true }).refuse.length, 0);
      }),
    );
  });

  it("names a pod with its namespace", () => {
    assert.equal(namespacedName({ metadata: { name: "a", namespace: "b" } }), "b/a");
  });
});
