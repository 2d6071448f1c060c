import assert from "node:assert/strict";
import { UNKNOWN } from "../../../lib/unknown";
import type { PolicyResource } from "../../../policy/plan/rule";
import { backups, disruptionBudgets } from "../../../policy/plan/workloads";
import { defaultsOf, of, own, type Values } from "./resources";

const object = (type: string, values: Values) => of(`kubernetes:${type}`, values);
const cluster = own("ClusterInit", {});

describe("policy backups", () => {
  const problems = (resources: PolicyResource[], objects = ["Schedule *", "CronJob etcd-*"]) =>
    backups.checkStack(resources, { objects }).map(({ problem }) => problem);
  const backup = (name: unknown) => object("batch/v1:CronJob", { metadata: { name } });

  it("demands nothing by default", () =>
    assert.deepEqual(backups.checkStack([cluster], defaultsOf(backups)), []));
  it("refuses a cluster without any of the objects", () =>
    assert.deepEqual(
      problems([cluster, backup("report"), object("core/v1:Secret", { metadata: { name: "etcd-1" } })]),
      ["the stack registers no object that backs up the cluster: Schedule *, CronJob etcd-*"],
    ));
  it("accepts one of the objects, by its name in the cluster", () =>
    assert.deepEqual(problems([cluster, backup("etcd-nightly")]), []));
  it("accepts a custom resource", () =>
    assert.deepEqual(problems([cluster, object("velero.io/v1:Schedule", {})]), []));
  it("takes the name of the resource while the object's is unknown", () =>
    assert.deepEqual(problems([cluster, { ...backup(UNKNOWN), name: "etcd-hourly" }]), []));
  it("accepts a stack without a cluster", () => assert.deepEqual(problems([backup("report")]), []));
});

describe("policy disruption-budgets", () => {
  const labels = { app: "shop" };
  const workload = (
    values: Values = {},
    metadata: Values = { namespace: "shop", name: "web" },
    kind = "Deployment",
  ) =>
    object(`apps/v1:${kind}`, {
      metadata,
      spec: { replicas: 2, template: { metadata: { labels } }, ...values },
    });
  const budget = (selector: unknown, namespace: unknown = "shop") =>
    object("policy/v1:PodDisruptionBudget", { metadata: { namespace }, spec: { selector } });
  const cases: [title: string, resources: PolicyResource[], isRefused?: true][] = [
    ["a workload without a budget", [workload()], true],
    ["a StatefulSet without a budget", [workload({}, { name: "db" }, "StatefulSet")], true],
    ["a budget of other pods", [workload(), budget({ matchLabels: { app: "other" } })], true],
    ["a budget of another namespace", [workload(), budget({ matchLabels: labels }, "other")], true],
    ["a budget without a selector", [workload(), budget(undefined)], true],
    ["a budget that selects the pods", [workload(), budget({ matchLabels: labels })]],
    ["a budget of all pods of the namespace", [workload(), budget({})]],
    ["a budget whose selector is unknown", [workload(), budget(UNKNOWN)]],
    [
      "a workload whose namespace is unknown",
      [workload({}, { namespace: UNKNOWN }), budget({ matchLabels: labels })],
    ],
    ["a single replica, which every drain stops", [workload({ replicas: 1 })]],
    ["a number of replicas that is unknown", [workload({ replicas: UNKNOWN })]],
    ["workloads of kube-system", [workload({}, { namespace: "kube-system" })]],
    ["what is not a workload", [object("core/v1:ConfigMap", { spec: { replicas: 2 } })]],
  ];
  for (const [title, resources, isRefused] of cases)
    it(`${isRefused ? "refuses" : "accepts"} ${title}`, () => {
      const found = disruptionBudgets.checkStack(resources, defaultsOf(disruptionBudgets));
      assert.equal(found.length, isRefused ? 1 : 0, JSON.stringify(found));
      if (isRefused) assert.match(found[0]!.problem, /no PodDisruptionBudget of the stack selects its pods$/);
    });
});
