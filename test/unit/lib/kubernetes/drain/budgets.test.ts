import assert from "node:assert/strict";
import fc from "fast-check";
import {
  blockedDrains,
  type Budget,
  evictionVerdict,
  partsForDrain,
  type PodParts,
} from "../../../../../lib/kubernetes/drain/plan";

const allow = { deleteEmptyDirData: false, force: false };
const pod = (name: string, nodeName: string, over: Partial<PodParts> = {}): PodParts => ({
  metadata: {
    name,
    namespace: "web",
    labels: { app: "web", tier: "front" },
    ownerReferences: [{ kind: "ReplicaSet", name: "web", controller: true }],
  },
  spec: { nodeName },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  ...over,
});
const budget = (selector: NonNullable<Budget["spec"]>["selector"], disruptionsAllowed = 0): Budget => ({
  metadata: { name: "web", namespace: "web" },
  spec: { selector },
  status: { disruptionsAllowed },
});
const held = {
  machine: "w-1",
  how: "wait",
  why: "web/a is held by the PodDisruptionBudget web, which allows no disruption now",
};

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

  it("depend only on the parts of a pod that a preview keeps", () => {
    const anyPod = fc.record({
      metadata: fc.record({
        name: fc.constantFrom("a", "b"),
        namespace: fc.constantFrom("web", "other"),
        labels: fc.constantFrom({ app: "web" }, { app: "db" }),
        annotations: fc.constantFrom(
          { "kubernetes.io/config.mirror": "x", other: "y" },
          { other: "y" },
          undefined,
        ),
        ownerReferences: fc.constantFrom(
          ...["ReplicaSet", "DaemonSet"].map((kind) => [{ kind, name: "web", controller: true }]),
          undefined,
        ),
        deletionTimestamp: fc.constantFrom("2026-01-01T00:00:00Z", undefined),
        managedFields: fc.constant([{ manager: "kubelet" }]),
      }),
      spec: fc.record({
        nodeName: fc.constantFrom("w-1", "w-2", undefined),
        volumes: fc.constantFrom([{ name: "data", emptyDir: {} }], [{ name: "token" }], undefined),
        containers: fc.constant([{ name: "app", env: [{ name: "SETTING", value: "x" }] }]),
      }),
      status: fc.record({
        phase: fc.constantFrom("Running", "Pending", "Succeeded"),
        conditions: fc.constantFrom([{ type: "Ready", status: "True" }], [], undefined),
      }),
    }) as unknown as fc.Arbitrary<PodParts>;
    const budgets = [budget({ matchLabels: { app: "web" } })];
    fc.assert(
      fc.property(fc.array(anyPod), (pods) => {
        const kept = pods.map(partsForDrain);
        assert.deepEqual(
          blockedDrains(["w-1", "w-2"], kept, budgets, allow),
          blockedDrains(["w-1", "w-2"], pods, budgets, allow),
        );
        assert.ok(
          !/managedFields|containers|other"/.test(JSON.stringify(kept).replaceAll('"namespace":"other"', "")),
        );
      }),
    );
  });

  it("name pods that may not be evicted at all", () => {
    const bare = pod("a", "w-1", { metadata: { name: "a", namespace: "web" } });
    const [blocked] = blockedDrains(["w-1"], [bare], [], allow);
    assert.equal(blocked?.how, "be refused");
    assert.match(blocked.why, /^web\/a has no controller/);
  });

  it("name the budgets of a pod with several, whose eviction the API always refuses", () => {
    const other = { ...budget({}, 1), metadata: { name: "all", namespace: "web" } };
    assert.deepEqual(blockedDrains(["w-1"], [pod("a", "w-1")], [budget({}, 1), other], allow), [
      {
        machine: "w-1",
        how: "wait",
        why: "web/a is selected by 2 PodDisruptionBudgets (web, all), and the eviction API refuses that",
      },
    ]);
  });
});

describe("what the eviction API answers", () => {
  const running = (ready: string): PodParts["status"] => ({
    phase: "Running",
    conditions: [{ type: "Ready", status: ready }],
  });
  const withStatus = (
    status: Partial<NonNullable<Budget["status"]>>,
    unhealthyPodEvictionPolicy?: string,
  ): Budget => ({
    metadata: { name: "web", namespace: "web" },
    spec: { selector: {}, ...(unhealthyPodEvictionPolicy && { unhealthyPodEvictionPolicy }) },
    status: { disruptionsAllowed: 0, ...status },
  });
  const healthy = { currentHealthy: 2, desiredHealthy: 2 };
  const disrupted = { currentHealthy: 1, desiredHealthy: 2 };
  const cases: [what: string, status: PodParts["status"], budget: Budget, kind: string][] = [
    ["a ready pod, nothing allowed", running("True"), withStatus(healthy), "held"],
    ["a ready pod, one allowed", running("True"), withStatus({ disruptionsAllowed: 1 }), "counted"],
    ["a ready pod with AlwaysAllow", running("True"), withStatus(healthy, "AlwaysAllow"), "held"],
    ["an unready pod with AlwaysAllow", running("False"), withStatus(disrupted, "AlwaysAllow"), "free"],
    ["an unknown pod with AlwaysAllow", running("Unknown"), withStatus(disrupted, "AlwaysAllow"), "free"],
    ["an unready pod, enough others healthy, by default", running("False"), withStatus(healthy), "free"],
    ["an unready pod, too few healthy, by default", running("False"), withStatus(disrupted), "held"],
    ["an unready pod with IfHealthyBudget", running("False"), withStatus(healthy, "IfHealthyBudget"), "free"],
    ["an unready pod, none needed", running("False"), withStatus({ desiredHealthy: 0 }), "held"],
    ["a pod without conditions counts as unready", { phase: "Running" }, withStatus(healthy), "free"],
    ["a pending pod", { phase: "Pending" }, withStatus(disrupted), "free"],
    ["a finished pod", { phase: "Succeeded" }, withStatus(disrupted), "free"],
    ["a failed pod", { phase: "Failed" }, withStatus(disrupted), "free"],
    [
      "a budget whose controller has not looked yet",
      running("True"),
      { ...withStatus({}), status: {} },
      "held",
    ],
  ];
  for (const [what, status, one, kind] of cases)
    it(`is "${kind}" for ${what}`, () => {
      assert.equal(evictionVerdict(pod("a", "w-1", { status }), [one]).kind, kind);
    });

  it("counts by the number that the controller computed, not by the percentage", () => {
    const half = withStatus({ disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2 });
    const spec = { ...half.spec, minAvailable: "50%" };
    assert.equal(evictionVerdict(pod("a", "w-1"), [{ ...half, spec }]).kind, "counted");
  });

  it("is a refusal for a pod under several budgets, unless they are ignored for it", () => {
    const two = [withStatus({ disruptionsAllowed: 1 }), withStatus({ disruptionsAllowed: 1 }, "AlwaysAllow")];
    assert.equal(evictionVerdict(pod("a", "w-1"), two).kind, "several");
    assert.equal(evictionVerdict(pod("a", "w-1", { status: running("False") }), two).kind, "several");
    assert.equal(evictionVerdict(pod("a", "w-1", { status: { phase: "Pending" } }), two).kind, "free");
    const ending = pod("a", "w-1");
    const metadata = { ...ending.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    assert.equal(evictionVerdict({ ...ending, metadata }, two).kind, "free");
  });
});
