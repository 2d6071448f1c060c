import assert from "node:assert/strict";
import pc from "picocolors";
import { matches } from "../../../../lib/kubernetes/drain/plan";
import { clusterVersionOf } from "../../../../cli/forecast/facts";
import { removalFindings } from "../../../../cli/forecast/findings";
import { renderForecastMarkdown, renderForecast } from "../../../../cli/forecast/render";
import { planReport, type ForecastOptions } from "../../../../cli/forecast/report";
import { NEWEST_VERSION } from "../../../../providers/kubeadm/plan/cluster/kubernetes-minors";
import { assertGolden } from "../../golden";
import { cleanFacts, plainNode, plainPod, troubledFacts } from "./facts";

const desired = (over: Partial<ForecastOptions> = {}): ForecastOptions => ({
  target: "1.36.3",
  allow: { force: false, deleteEmptyDirData: false },
  maxUnavailable: 1,
  intermediates: [],
  now: new Date("2026-11-21T12:00:00Z"),
  ...over,
});

describe("forecast of a rollout", () => {
  it("is clean without blockers", () => {
    const report = planReport(cleanFacts(), desired());
    assert.deepEqual([report.findings, report.notes, report.blocked], [[], [], false]);
    assertGolden("plan-clean.txt", renderForecast(report));
  });

  it("names every blocker and warning of a rollout", () => {
    const report = planReport(troubledFacts(), desired());
    assert.equal(report.blocked, true);
    assertGolden("plan-blocked.txt", renderForecast(report));
    assertGolden("plan-blocked.md", renderForecastMarkdown(report));
    assertGolden("plan-blocked.json", `${JSON.stringify(report, undefined, 2)}\n`);
  });

  it("is unknown, and not clean, when a blocker could hide behind a missing permission", () => {
    const unread = ["these credentials may not list pods: drains were not checked"];
    const report = planReport(cleanFacts({ pods: undefined, unread }), desired());
    assert.deepEqual([report.blocked, report.unknown], [false, unread]);
    const text = renderForecast(report);
    assert.doesNotMatch(text, /Clean/);
    assert.match(text, /\n1 unknown\n {2}\? these credentials may not list pods: drains were not checked\n/);
    assert.match(
      text,
      /\nUnknown: 1 check could not be made\. Give the credentials these rights, then run the plan again\.\n$/,
    );
    const markdown = renderForecastMarkdown(report);
    assert.match(markdown, /^## Rollout to 1\.36\.3\n\n\*\*Unknown\*\*: 1 not checked\./);
    assert.match(markdown, /### Unknown\n\n- `these credentials may not list pods/);
    const atTarget = planReport(
      { ...cleanFacts({ unread }), nodes: [plainNode("cp-1", "1.36.3")], clusterVersion: "1.36.3" },
      desired(),
    );
    assert.deepEqual(atTarget.unknown, []);
  });

  it("has nothing to do at the target version, and then reads no pod", () => {
    const report = planReport(
      { ...troubledFacts(), nodes: [plainNode("cp-1", "1.36.3")], clusterVersion: "1.36.3" },
      desired(),
    );
    assert.deepEqual(report.steps, []);
    assert.ok(!report.findings.some(({ about }) => ["budget", "emptyDir", "unmanaged pod"].includes(about)));
  });

  it("warns about a minor that is newer than foresail knows, as the preview does", () => {
    const [minor] = NEWEST_VERSION.split(".").slice(1).map(Number);
    const newer = `1.${minor! + 1}.0`;
    const nodes = [plainNode("cp-1", NEWEST_VERSION)];
    const { findings, blocked } = planReport(
      { ...cleanFacts(), nodes, clusterVersion: NEWEST_VERSION, serverVersion: NEWEST_VERSION },
      desired({ target: newer }),
    );
    assert.deepEqual(
      findings.filter(({ about }) => about === "rollout"),
      [
        {
          about: "rollout",
          weight: "warns",
          words: `Kubernetes ${newer} is newer than this foresail knows (1.${minor}): it was not tested, and what it removes or changes may not be in this forecast`,
          fix: "read what its release notes say about removals and changes, or update foresail",
        },
      ],
    );
    assert.equal(blocked, false);
  });

  it("takes losses that are allowed for warnings", () => {
    const pods = [plainPod("alone", { node: "w-1", emptyDir: "data" })];
    const weights = (allow: ForecastOptions["allow"]) =>
      planReport(cleanFacts({ pods }), desired({ allow })).findings.map(
        ({ about, weight }) => `${about} ${weight}`,
      );
    assert.deepEqual(weights({ force: false, deleteEmptyDirData: false }), [
      "unmanaged pod blocks",
      "emptyDir blocks",
    ]);
    assert.deepEqual(weights({ force: true, deleteEmptyDirData: true }), [
      "unmanaged pod warns",
      "emptyDir warns",
    ]);
  });

  it("refuses what a rollout refuses", () => {
    const report = planReport(cleanFacts(), desired({ target: "1.34.4" }));
    assert.equal(report.blocked, true);
    assert.match(report.findings[0]?.words ?? "", /can't go down a minor/);
  });

  it("names what replaces an API version that is removed", () => {
    const metrics =
      'apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.32",resource="flowschemas",subresource="",version="v1beta3"} 1';
    assert.deepEqual(
      removalFindings(metrics, "1.32.13").map(({ fix }) => fix),
      ["move its users to flowcontrol.apiserver.k8s.io/v1"],
    );
    assert.deepEqual(removalFindings(metrics, "1.31.14"), []);
    assert.deepEqual(removalFindings(metrics.replace(/1$/, "0"), "1.32.13"), []);
  });

  it("lists what the target removes when the usage can't be read", () => {
    const nodes = [plainNode("cp-1", "1.31.2")];
    const { unknown } = planReport(
      cleanFacts({ nodes, clusterVersion: "1.31.2", metrics: undefined }),
      desired(),
    );
    assert.match(
      unknown.at(-1) ?? "",
      /removes flowcontrol\.apiserver\.k8s\.io\/v1beta3 flowschemas, .*look for their users/,
    );
  });

  it("forecasts the same rollout whichever order the Nodes come in", () => {
    const facts = cleanFacts();
    const other = planReport({ ...facts, nodes: [...facts.nodes].reverse() }, desired());
    assert.deepEqual(other, planReport(facts, desired()));
  });

  it("colors the text only on request, without changing a word", () => {
    const report = planReport(troubledFacts(), desired());
    const colored = renderForecast(report, pc.createColors(true));
    assert.notEqual(colored, renderForecast(report));
    // eslint-disable-next-line no-control-regex
    assert.equal(colored.replace(/\u001b\[\d+m/g, ""), renderForecast(report));
  });

  it("has names from the cluster only as code", () => {
    const facts = cleanFacts({ pods: [plainPod("a|<b>*", { node: "w-1" })] });
    assert.match(
      renderForecastMarkdown(planReport(facts, desired())),
      /`w-1: shop\/a\\u\{7c\}<b>\* has no controller/,
    );
  });

  it("reads selectors as policy/v1 does", () => {
    const labels = { app: "web" };
    const expression = (operator: string, key = "app") => ({
      matchExpressions: [{ key, operator, values: ["web"] }],
    });
    const taken = [
      {},
      expression("In"),
      expression("Exists"),
      expression("DoesNotExist", "x"),
      expression("NotIn", "x"),
    ];
    const left = [
      { matchLabels: { app: "db" } },
      expression("NotIn"),
      expression("In", "x"),
      expression("Like"),
    ];
    for (const selector of taken) assert.ok(matches(selector, labels), JSON.stringify(selector));
    for (const selector of left) assert.ok(!matches(selector, labels), JSON.stringify(selector));
  });

  it("reads the cluster's version from kubeadm's configuration", () => {
    assert.equal(clusterVersionOf("kind: ClusterConfiguration\nkubernetesVersion: v1.35.4\n"), "1.35.4");
    for (const text of [
      '{"kind":"ClusterConfiguration","kubernetesVersion":"v1.35.4"}',
      "{kubernetesVersion: v1.35.4, networking: {}}",
      "kind: ClusterConfiguration\n'kubernetesVersion': \"v1.35.4\" # by hand\n",
      "note: |\n  kubernetesVersion: v1.1.1\n\nkubernetesVersion: 1.35.4\n",
    ])
      assert.equal(clusterVersionOf(text), "1.35.4", text);
    for (const text of ["kind: ClusterConfiguration", "note: |\nkubernetesVersion: [1", "", undefined])
      assert.equal(clusterVersionOf(text), undefined, text);
  });
});
