import assert from "node:assert/strict";
import type { Budget, PodParts } from "../../../../lib/kubernetes/drain/plan";
import { type Places, whyNowhereElse } from "../../../../lib/kubernetes/drain/placement";
import { planReport } from "../../../../cli/forecast/report";
import { cleanFacts, plainNode, plainPod } from "./facts";

type Spec = NonNullable<PodParts["spec"]>;

const node = (name: string, labels: Record<string, string> = {}, spec: object = {}) => ({
  metadata: { name, labels },
  spec,
});
const CONTROL_PLANE_TAINT = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" };
const controlPlane = node("cp-1", {}, { taints: [CONTROL_PLANE_TAINT] });
const TWO: Places["nodes"] = [
  controlPlane,
  node("w-1", { disk: "ssd" }),
  node("w-2", { disk: "hdd", size: "8" }),
];
const affinity = (...terms: object[]): Spec["affinity"] => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
});
const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});

const ONE_AT_A_TIME = {
  target: "1.36.3",
  allow: { force: false, deleteEmptyDirData: false },
  maxUnavailable: 1,
  intermediates: [],
  now: new Date("2026-11-21T12:00:00Z"),
};

describe("whether a pod of w-1 can run on another node", () => {
  const why = (spec: Omit<Spec, "nodeName">, places: Partial<Places> = {}) =>
    whyNowhereElse(
      { metadata: { namespace: "shop" }, spec: { nodeName: "w-1", ...spec } },
      { nodes: TWO, claims: [], volumes: [], ...places },
    );
  const cases: [what: string, spec: Omit<Spec, "nodeName">, expected: string | undefined][] = [
    ["no constraint", {}, undefined],
    ["a node selector of two nodes", { nodeSelector: { size: "8" } }, undefined],
    ["a node selector of its own node", { nodeSelector: { disk: "ssd" } }, "node selector disk=ssd"],
    ["affinity to another node", { affinity: affinity(expression("disk", "In", "hdd")) }, undefined],
    ["affinity to its own node", { affinity: affinity(expression("disk", "In", "ssd")) }, "node affinity"],
    [
      "NotIn",
      { affinity: affinity(expression("disk", "NotIn", "hdd", "none")) },
      "node affinity and taints and cordons of the other nodes",
    ],
    ["Exists", { affinity: affinity(expression("size", "Exists")) }, undefined],
    ["Gt", { affinity: affinity(expression("size", "Gt", "7")) }, undefined],
    ["Lt", { affinity: affinity(expression("size", "Lt", "7")) }, "node affinity"],
    [
      "alternative terms",
      { affinity: affinity(expression("disk", "In", "ssd"), expression("size", "In", "8")) },
      undefined,
    ],
    ["an empty term", { affinity: affinity({}) }, "node affinity"],
    [
      "a name",
      { affinity: affinity({ matchFields: [{ key: "metadata.name", operator: "In", values: ["w-1"] }] }) },
      "node affinity",
    ],
    ["preferred affinity alone", { affinity: {} }, undefined],
  ];
  for (const [what, spec, expected] of cases)
    it(`is ${expected === undefined ? "yes" : "no"} with ${what}`, () => {
      assert.equal(why(spec), expected);
    });

  it("depends on the node affinity of its volumes", () => {
    const spec = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-0" } }] };
    const claims = [
      { metadata: { name: "data-0", namespace: "other" }, spec: { volumeName: "elsewhere" } },
      { metadata: { name: "data-0", namespace: "shop" }, spec: { volumeName: "pv-1" } },
    ];
    const volumes = (...hosts: string[]) => [
      {
        metadata: { name: "pv-1" },
        spec: { nodeAffinity: { required: { nodeSelectorTerms: [expression("disk", "In", ...hosts)] } } },
      },
    ];
    assert.equal(why(spec, { claims, volumes: volumes("ssd") }), "volume of claim data-0");
    assert.equal(why(spec, { claims, volumes: volumes("ssd", "hdd") }), undefined);
    assert.equal(why(spec, { claims, volumes: [{ metadata: { name: "pv-1" } }] }), undefined);
    assert.equal(why(spec), undefined);
  });

  it("depends on taints, tolerations and cordons", () => {
    const one = { nodes: [controlPlane, node("w-1")] };
    const taints = "taints and cordons of the other nodes";
    assert.equal(why({}, one), taints);
    const { key, effect } = CONTROL_PLANE_TAINT;
    for (const toleration of [{ operator: "Exists" }, { key, operator: "Exists", effect }, { key }])
      assert.equal(why({ tolerations: [toleration] }, one), undefined, JSON.stringify(toleration));
    for (const toleration of [
      { key: "other", operator: "Exists" },
      { key, value: "x" },
      { key, operator: "Exists", effect: "NoExecute" },
    ])
      assert.equal(why({ tolerations: [toleration] }, one), taints, JSON.stringify(toleration));
    const cordoned = node("w-2", {}, { unschedulable: true });
    assert.equal(why({}, { nodes: [node("w-1"), cordoned] }), taints);
    const preferring = node("w-2", {}, { taints: [{ key: "a", effect: "PreferNoSchedule" }] });
    assert.equal(why({}, { nodes: [node("w-1"), preferring] }), undefined);
    const notReady = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
    assert.equal(why({}, { nodes: [node("w-1"), node("w-2", {}, { taints: [notReady] })] }), undefined);
    assert.equal(why({}, { nodes: [node("w-1")] }), "there is no other node");
  });
});

describe("forecast of pods that no other node can run", () => {
  const spec = { nodeName: "w-1", nodeSelector: { disk: "ssd" } };
  const bound = (name: string, labels = { app: "db" }) =>
    plainPod(name, { node: "w-1", owner: "StatefulSet", labels, spec });
  const budget = (disruptionsAllowed: number): Budget => ({
    metadata: { name: "db", namespace: "shop" },
    spec: { selector: { matchLabels: { app: "db" } } },
    status: { disruptionsAllowed, currentHealthy: 3, desiredHealthy: 3 - disruptionsAllowed },
  });
  const forecast = (pods: ReturnType<typeof bound>[], allowed: number) =>
    planReport(cleanFacts({ pods, budgets: [budget(allowed)] }), {
      target: "1.36.3",
      allow: { force: false, deleteEmptyDirData: false },
      maxUnavailable: 1,
      intermediates: [],
      now: new Date("2026-11-21T12:00:00Z"),
    });

  it("warns of the outage where the budget allows it", () => {
    const { findings, blocked } = forecast([bound("db-0")], 1);
    assert.equal(blocked, false);
    assert.deepEqual(findings, [
      {
        about: "placement",
        weight: "warns",
        words: "w-1: no other node can run shop/db-0 (node selector disk=ssd): unavailable until w-1 is back",
        fix: "let another node run them, or accept the outage",
      },
    ]);
  });

  it("blocks where the budget allows fewer of a node's evictions than it has", () => {
    const { findings, blocked } = forecast([bound("db-0"), bound("db-1")], 1);
    assert.equal(blocked, true);
    assert.deepEqual(
      findings.map(({ words, fix }) => `${words}; ${fix}`),
      [
        "PodDisruptionBudget shop/db allows 1 of the 2 evictions on w-1, and no other node can run its pods: " +
          "shop/db-0 (node selector disk=ssd), shop/db-1 (node selector disk=ssd); let another node run them, or let it allow 2 disruptions",
      ],
    );
    assert.deepEqual(forecast([bound("db-0"), bound("db-1")], 2).blocked, false);
  });

  it("reports no pods without a budget, and none in a cluster that has another node for them", () => {
    assert.deepEqual(forecast([bound("web-0", { app: "web" })], 1).findings, []);
    const facts = cleanFacts({ pods: [bound("db-0")], budgets: [budget(1)] });
    const nodes = facts.nodes.map((each) => ({
      ...each,
      metadata: { ...each.metadata, labels: { ...each.metadata?.labels, disk: "ssd" } },
    }));
    const report = planReport({ ...facts, nodes: [...nodes, plainNode("w-3", "1.35.4")] }, ONE_AT_A_TIME);
    assert.deepEqual(report.findings, []);
  });

  it("does not report an unready pod that AlwaysAllow permits to evict", () => {
    const unready = plainPod("db-0", {
      node: "w-1",
      owner: "StatefulSet",
      labels: { app: "db" },
      ready: false,
    });
    const one = { ...budget(0), spec: { ...budget(0).spec, unhealthyPodEvictionPolicy: "AlwaysAllow" } };
    const facts = cleanFacts({
      pods: [unready],
      budgets: [{ ...one, status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 } }],
    });
    const report = planReport(facts, ONE_AT_A_TIME);
    assert.deepEqual(report.findings, []);
  });
});
