import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse, stringify } from "yaml";
import { KubernetesClient, KubernetesError } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";
import { READER, readerObjects } from "../../providers/kubeadm/plan/cluster/reader-account";
import { DEFAULT_ANNOTATION_PATTERN } from "../../providers/kubeadm/plan/rollout/annotations";
import { handlers as nodeRollout } from "../../providers/kubeadm/resources/rollout/node-rollout-handlers";
import { READER_KUBECONFIG } from "../../providers/kubeadm/resources/session/preview-reading";
import { handlers as readerAccount } from "../../providers/kubeadm/resources/cluster/reader-account-handlers";
import { drain, common, machines, rollout } from "../host/handler-samples";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";
import { exampleSpecification } from "../unit/providers/kubeadm/machine/examples";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { stepsOfKind } from "../support/steps";

const NODE = { apiVersion: "v1", kind: "Node", name: "w-1" };
const CONFIGURATION = { namespace: "kube-system", name: "kubeadm-config" };

describe("the read-only account", function () {
  this.timeout(60_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-reader-"));
  let api: BareApiServer;
  let admin: KubernetesClient;
  let reader: KubernetesClient;
  let kubeconfig: string;

  before(async function () {
    this.timeout(1_800_000);
    api = await new BareApiServer({ programs: await simulationPrograms(), controllers: [] }).start();
    admin = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
    const status = {
      conditions: [{ type: "Ready", status: "True" }],
      nodeInfo: { kubeletVersion: "v1.35.4" },
    };
    for (const { name, group } of machines) {
      const labels = { "foresail/group": group, [`node-role.kubernetes.io/${group}`]: "" };
      await admin.create({ apiVersion: "v1", kind: "Node", metadata: { name, labels } });
      await admin.mergePatch({ ...NODE, name }, { status }, { subresource: "status" });
    }
    const data = { ClusterConfiguration: "kubernetesVersion: v1.35.4\n" };
    await admin.create({ apiVersion: "v1", kind: "ConfigMap", metadata: CONFIGURATION, data });
    const account = { ...common, annotations: DEFAULT_ANNOTATION_PATTERN, kubeconfig: api.kubeconfig() };
    await readerAccount.create?.((await readerAccount.check?.({}, account))?.inputs);
    kubeconfig = await readerKubeconfig();
    reader = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
  });
  after(async () => {
    reader?.close();
    admin?.close();
    await api?.stop();
    rmSync(folder, { recursive: true });
  });

  /** As `kubectl create token` issues one. */
  async function readerKubeconfig(): Promise<string> {
    const account = `/api/v1/namespaces/kube-system/serviceaccounts/${READER}/token`;
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const answer = await admin.call({ method: "POST", path: account, body }, false);
    const { token } = (answer as { status: { token: string } }).status;
    const config = parse(api.kubeconfig()) as { users: { name: string; user: object }[] };
    config.users = config.users.map(({ name }) => ({ name, user: { token } }));
    return stringify(config);
  }

  it("grants no verb that writes", () => {
    const rules = readerObjects(true, true).flatMap((object) =>
      "rules" in object ? (object.rules as object[]) : [],
    );
    const verbs = rules.flatMap((rule) => (rule as { verbs: string[] }).verbs);
    assert.deepEqual([...new Set(verbs)].sort(), ["get", "list", "watch"]);
    assert.ok(!JSON.stringify(rules).includes("secrets"));
  });

  it("sees the whole rollout in a preview, whatever the resource's own credentials are", async () => {
    const file = path.join(folder, "reader");
    writeFileSync(file, kubeconfig, { mode: 0o600 });
    process.env[READER_KUBECONFIG] = file;
    try {
      const inputs = { ...common, machines, rollout, drain, kubeconfig: "no kubeconfig" };
      const specification = exampleSpecification({ version: "1.36.3" });
      const checked = await nodeRollout.check?.({}, { ...inputs, specification });
      assert.equal(checked?.failures?.length, 0);
      const { steps } = checked?.inputs as { steps: string[] };
      assert.equal(steps.length, machines.length, steps.join("\n"));
      const [first] = stepsOfKind(nodeRolloutSteps, "upgrade", steps.slice(0, 1));
      assert.deepEqual([first?.machine, first?.from, first?.to], ["cp-1", "1.35.4", "1.36.3"]);
    } finally {
      Reflect.deleteProperty(process.env, READER_KUBECONFIG);
    }
  });

  async function accountSteps(recorded: object): Promise<string[]> {
    const file = path.join(folder, "reader");
    writeFileSync(file, kubeconfig, { mode: 0o600 });
    process.env[READER_KUBECONFIG] = file;
    try {
      const news = { ...common, annotations: DEFAULT_ANNOTATION_PATTERN, kubeconfig: "no kubeconfig" };
      return ((await readerAccount.check?.(recorded, news))?.inputs as { steps: string[] }).steps;
    } finally {
      Reflect.deleteProperty(process.env, READER_KUBECONFIG);
    }
  }

  it("compares every object that foresail keeps in the cluster, and says unread without the right", async () => {
    const news = { ...common, annotations: DEFAULT_ANNOTATION_PATTERN, kubeconfig: api.kubeconfig() };
    const state = (await readerAccount.check?.({}, news))?.inputs as object;
    assert.deepEqual(await accountSteps(state), []);
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: READER };
    const { rules } = (await admin.get<{ rules: object[] }>(role))!;
    await admin.mergePatch(role, { rules: rules.slice(0, 1) });
    const lines = await waitFor<string[]>({
      what: "the API server to refuse the reader",
      seconds: 20,
      probe: async () => {
        const steps = await accountSteps(state);
        return steps[0]?.startsWith("cluster: not compared") ? { done: steps } : { pending: steps.join() };
      },
    });
    await admin.mergePatch(role, { rules });
    assert.match(
      lines.join("\n"),
      /^cluster: not compared, since it could not be read: ClusterRole foresail-reader, ClusterRoleBinding foresail-reader, ValidatingAdmissionPolicy [^\n;]*; [^\n]*403 Forbidden/,
    );
  });

  const writes: [string, () => Promise<unknown>][] = [
    ["cordon a Node", () => reader.mergePatch(NODE, { spec: { unschedulable: true } })],
    ["annotate a Node", () => reader.mergePatch(NODE, { metadata: { annotations: { a: "b" } } })],
    ["evict a pod", () => reader.evict({ namespace: "default", name: "web-0" })],
    ["delete a Node", () => reader.delete(NODE)],
    [
      "change kubeadm-config",
      () => reader.mergePatch({ apiVersion: "v1", kind: "ConfigMap", ...CONFIGURATION }, { data: {} }),
    ],
    [
      "take the Lease",
      () =>
        reader.create({
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { name: "foresail", namespace: "kube-system" },
        }),
    ],
    ["read a Secret", () => reader.list({ apiVersion: "v1", kind: "Secret", namespace: "kube-system" })],
  ];
  for (const [what, write] of writes)
    it(`may not ${what}`, async () => {
      await assert.rejects(write(), (error) => error instanceof KubernetesError && error.status === 403);
    });
});
