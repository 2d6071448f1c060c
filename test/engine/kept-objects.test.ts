import assert from "node:assert/strict";
import { KubernetesClient, type NewObject, type ObjectRef } from "../../lib/kubernetes";
import { refOf } from "../../lib/kubernetes/objects";
import { UNKNOWN } from "../../lib/unknown";
import { READER } from "../../providers/kubeadm/plan/cluster/reader-account";
import { keptObjects } from "../../providers/kubeadm/plan/cluster/kept-objects";
import { ANNOTATION_POLICY } from "../../providers/kubeadm/plan/rollout/annotation-policy";
import { DEFAULT_ANNOTATION_PATTERN } from "../../providers/kubeadm/plan/rollout/annotations";
import { handlers } from "../../providers/kubeadm/resources/cluster/reader-account-handlers";
import { common } from "../host/handler-samples";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";

const RBAC = "rbac.authorization.k8s.io/v1";
const ADMISSION = "admissionregistration.k8s.io/v1";
const OPTIONS = {
  annotations: DEFAULT_ANNOTATION_PATTERN,
  ...{
    hasPolicy: true,
    configuration: false,
    drift: true,
    certificates: true,
    updates: false,
    comparesAll: true,
  },
  owner: undefined,
};
const KEPT = keptObjects(OPTIONS);

const policy = (kind: string): ObjectRef => ({ apiVersion: ADMISSION, kind, name: ANNOTATION_POLICY });
const POLICY = policy("ValidatingAdmissionPolicy");
const BINDING = policy("ValidatingAdmissionPolicyBinding");
const role = (kind: string): ObjectRef => ({
  ...{ apiVersion: RBAC, kind, name: READER },
  ...(kind.startsWith("Cluster") ? {} : { namespace: "kube-system" }),
});
const ALL = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };

/** What a person changed by hand, and the paths that the preview names. */
const EDITS: [string, ObjectRef, object, string][] = [
  [
    "warns instead of refusing",
    BINDING,
    { spec: { validationActions: ["Warn"] } },
    "spec.validationActions[0]",
  ],
  ["audits, too", BINDING, { spec: { validationActions: ["Deny", "Audit"] } }, "spec.validationActions"],
  [
    "applies to no object",
    BINDING,
    { spec: { matchResources: { objectSelector: { matchLabels: { never: "x" } } } } },
    "spec.matchResources",
  ],
  ["binds another policy", BINDING, { spec: { policyName: "another" } }, "spec.policyName"],
  [
    "binds a policy whose name the engine takes for unknown",
    BINDING,
    { spec: { policyName: UNKNOWN } },
    "spec",
  ],
  ["fails otherwise", POLICY, { spec: { failurePolicy: "Fail" } }, "spec.failurePolicy"],
  [
    "selects no object",
    POLICY,
    { spec: { matchConstraints: { objectSelector: { matchLabels: { never: "x" } } } } },
    "spec.matchConstraints.objectSelector.matchLabels",
  ],
  [
    "excludes Nodes",
    POLICY,
    {
      spec: {
        matchConstraints: {
          excludeResourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["nodes"] },
          ],
        },
      },
    },
    "spec.matchConstraints.excludeResourceRules",
  ],
  ["checks nothing", POLICY, { spec: { validations: [{ expression: "true" }] } }, "spec.validations"],
  [
    "never matches",
    POLICY,
    { spec: { matchConditions: [{ name: "never", expression: "false" }] } },
    "spec.matchConditions[0].expression, spec.matchConditions[0].name",
  ],
  ["may do everything", role("ClusterRole"), { rules: [ALL] }, "rules"],
  [
    "collects the rules of others",
    role("ClusterRole"),
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { never: "x" } }] } },
    "aggregationRule",
  ],
  ["reads less", role("Role"), { rules: [] }, "rules"],
  [
    "serves another user",
    role("ClusterRoleBinding"),
    { subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "mallory" }] },
    "subjects[0].apiGroup, subjects[0].kind, subjects[0].name, subjects[0].namespace",
  ],
];

interface Inputs {
  steps: string[];
  objects: object[];
}

describe("what foresail keeps in a cluster, on a real API server", function () {
  this.timeout(60_000);
  let api: BareApiServer;
  let admin: KubernetesClient;
  let state: Inputs;
  const news = () => ({ ...common, annotations: DEFAULT_ANNOTATION_PATTERN, kubeconfig: api.kubeconfig() });

  before(async function () {
    this.timeout(1_800_000);
    api = await new BareApiServer({ programs: await simulationPrograms(), controllers: [] }).start();
    admin = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 30 });
    const inputs = (await handlers.check?.({}, news()))?.inputs as Inputs;
    state = (await handlers.create?.(inputs))?.outs as Inputs;
  });
  after(async () => {
    admin?.close();
    await api?.stop();
  });
  beforeEach(async () => assert.deepEqual(await preview(), []));

  /** The steps of a preview, which the engine shows as a change exactly if there is one. */
  async function preview(): Promise<string[]> {
    const inputs = (await handlers.check?.(state, news()))?.inputs as Inputs;
    assert.equal((await handlers.diff?.("demo", state, inputs))?.changes, inputs.steps.length > 0);
    return inputs.steps;
  }

  async function up(): Promise<void> {
    const inputs = (await handlers.check?.(state, news()))?.inputs as Inputs;
    state = (await handlers.update?.("demo", state, inputs))?.outs as Inputs;
  }

  it("restores all of them when all are deleted", async () => {
    for (const object of KEPT) assert.ok(await admin.delete(refOf(object)), object.kind);
    assert.deepEqual(
      await preview(),
      KEPT.map(({ kind, metadata }) => `cluster: restore the ${kind} ${metadata.name} (deleted)`),
    );
    await up();
    for (const object of KEPT) assert.ok(await admin.get(refOf(object)), object.kind);
  });

  for (const object of KEPT)
    it(`restores the ${object.kind} ${object.metadata.name} alone when it is deleted`, async () => {
      await admin.delete(refOf(object));
      assert.deepEqual(await preview(), [
        `cluster: restore the ${object.kind} ${object.metadata.name} (deleted)`,
      ]);
      await up();
      assert.ok(await admin.get(refOf(object)));
    });

  for (const [what, reference, patch, paths] of EDITS)
    it(`restores a ${reference.kind} that ${what}`, async () => {
      const { spec, rules, subjects } = (await admin.get(reference))!;
      await admin.mergePatch(reference, patch, { fieldManager: "kubectl-edit" });
      assert.deepEqual(await preview(), [
        `cluster: restore the ${reference.kind} ${reference.name} (edited: ${paths})`,
      ]);
      await up();
      const restored = (await admin.get(reference))!;
      assert.deepEqual(
        {
          spec: restored.spec,
          rules: restored.rules,
          subjects: restored.subjects,
          more: restored.aggregationRule,
        },
        { spec, rules, subjects, more: undefined },
      );
    });

  it("restores a binding of another role, which the API does not change", async () => {
    const reference = role("RoleBinding");
    const binding = (await admin.get<NewObject>(reference))!;
    await admin.delete(reference);
    const { name, namespace } = reference;
    await admin.create({
      ...binding,
      metadata: { name, namespace: namespace! },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    });
    assert.deepEqual(await preview(), [
      `cluster: restore the RoleBinding ${READER} (edited: roleRef.kind, roleRef.name)`,
    ]);
    await up();
    assert.deepEqual((await admin.get(reference))?.roleRef, binding.roleRef);
  });

  it("leaves labels, annotations, and the content of the Lease and the history as others wrote them", async () => {
    for (const object of KEPT)
      await admin.mergePatch(refOf(object), { metadata: { labels: { team: "blue" } } });
    await admin.mergePatch(refOf(KEPT.at(-1)!), { data: { history: "a line\n" } });
    assert.deepEqual(await preview(), []);
    await up();
    const labels = await Promise.all(
      KEPT.map(async (object) => (await admin.get(refOf(object)))?.metadata?.labels),
    );
    assert.deepEqual(
      labels,
      KEPT.map(() => ({ team: "blue" })),
    );
    assert.equal(
      ((await admin.get(refOf(KEPT.at(-1)!)))?.data as Record<string, string>).history,
      "a line\n",
    );
  });

  it("says unread while no API server answers", async () => {
    const kubeconfig = api.kubeconfig().replace(/https:\/\/127\.0\.0\.1:\d+/, "https://127.0.0.1:9");
    const inputs = (await handlers.check?.(state, { ...news(), kubeconfig }))?.inputs as Inputs;
    assert.match(
      inputs.steps.join("\n"),
      /^cluster: not compared, since it could not be read: ServiceAccount [^\n]*; \S/,
    );
    assert.equal(inputs.steps.length, 1);
    assert.equal((await handlers.diff?.("demo", state, inputs))?.changes, true);
  });
});
