import assert from "node:assert/strict";
import { parse, stringify } from "yaml";
import { KubernetesClient, KubernetesError } from "../../lib/kubernetes";
import { UNKNOWN } from "../../lib/unknown";
import { waitFor } from "../../lib/wait";
import { readerObjects } from "../../providers/kubeadm/plan/cluster/reader-account";
import { annotationKeys, WAS_CORDONED } from "../../providers/kubeadm/plan/rollout/annotations";
import { handlers } from "../../providers/kubeadm/resources/cluster/reader-account-handlers";
import { common } from "../host/handler-samples";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";

const PATTERN = "[software].example.com";
const KEYS = annotationKeys(PATTERN);
const COMMANDS = [KEYS.changesAllowed, KEYS.desired("kubelet"), KEYS.desired("os-packages"), WAS_CORDONED];
const REPORTS = [KEYS.ready, KEYS.message, KEYS.revision, KEYS.current("kubelet")];
const ACCOUNT = { name: "plugin", namespace: "kube-system" };
const RBAC = "rbac.authorization.k8s.io/v1";
const OBJECTS = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: ACCOUNT },
  {
    // what Flannel's and Calico's pods may do, and more: on Nodes themselves, too
    ...{ apiVersion: RBAC, kind: "ClusterRole", metadata: { name: "plugin" } },
    rules: [
      { apiGroups: [""], resources: ["nodes", "nodes/status"], verbs: ["get", "create", "patch", "update"] },
      { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
    ],
  },
  {
    ...{ apiVersion: RBAC, kind: "ClusterRoleBinding", metadata: { name: "plugin" } },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "plugin" },
    subjects: [{ kind: "ServiceAccount", ...ACCOUNT }],
  },
];

/** A kubelet may not list the Nodes. */
const connect = (kubeconfig: string) =>
  KubernetesClient.connect({ kubeconfig }, { seconds: 30, authorizedPath: "/version" });

const reference = (name: string) => ({ apiVersion: "v1", kind: "Node", name });

describe("the annotations between foresail and the node agents, on a real API server", function () {
  this.timeout(60_000);
  let api: BareApiServer;
  const clients: Record<string, KubernetesClient> = {};
  const { check, create, diff } = handlers;

  before(async function () {
    this.timeout(1_800_000);
    api = await new BareApiServer({ programs: await simulationPrograms(), controllers: [] }).start();
    const admin = (clients.administrator = await connect(api.kubeconfig()));
    for (const name of ["w-1", "w-2"])
      await admin.create({ apiVersion: "v1", kind: "Node", metadata: { name } });
    for (const object of OBJECTS) await admin.apply(object);
    clients.plugin = await connect(await pluginKubeconfig());
    clients["w-1"] = await connect(api.kubeletKubeconfig("w-1"));
    clients["w-2"] = await connect(api.kubeletKubeconfig("w-2"));
    // before the policy, the plugin's permission is enough
    await annotate("plugin", "w-1", { [KEYS.changesAllowed]: "true" });
    await annotate("administrator", "w-1", { [KEYS.changesAllowed]: "false" });
    const inputs = { ...common, annotations: PATTERN, kubeconfig: api.kubeconfig() };
    await create?.((await check?.({}, inputs))?.inputs);
    await waitFor({
      what: "the policy to be in force",
      seconds: 30,
      probe: async () => {
        const refused = await isRefused(annotate("plugin", "w-2", { [KEYS.message]: String(Date.now()) }));
        return refused ? { done: true } : { pending: "not yet" };
      },
    });
    await annotate("administrator", "w-2", { [KEYS.message]: null });
  });

  after(async () => {
    for (const client of Object.values(clients)) client.close();
    await api?.stop();
  });

  /** As `kubectl create token` issues one. */
  async function pluginKubeconfig(): Promise<string> {
    const path = `/api/v1/namespaces/kube-system/serviceaccounts/${ACCOUNT.name}/token`;
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const answer = await clients.administrator!.call({ method: "POST", path, body }, false);
    const { token } = (answer as { status: { token: string } }).status;
    const config = parse(api.kubeconfig()) as { users: { name: string; user: object }[] };
    config.users = config.users.map(({ name }) => ({ name, user: { token } }));
    return stringify(config);
  }

  function annotate(
    who: string,
    node: string,
    annotations: Record<string, string | null>,
    options: { subresource?: "status" } = {},
  ): Promise<unknown> {
    return clients[who]!.mergePatch(reference(node), { metadata: { annotations } }, options);
  }

  /** @returns whether the policy refused the write; other errors are thrown */
  async function isRefused(write: Promise<unknown>): Promise<boolean> {
    try {
      await write;
      return false;
    } catch (error) {
      const isByPolicy =
        error instanceof KubernetesError && error.message.includes("ValidatingAdmissionPolicy");
      if (!isByPolicy) throw error;
      return true;
    }
  }

  for (const key of COMMANDS)
    it(`lets the administrator write ${key}, and neither the node, nor another one, nor a plugin`, async () => {
      assert.equal(await isRefused(annotate("administrator", "w-1", { [key]: "a" })), false);
      for (const who of ["w-1", "plugin"])
        for (const value of ["b", "", null])
          for (const options of [{}, { subresource: "status" as const }])
            assert.ok(await isRefused(annotate(who, "w-1", { [key]: value }, options)), `${who} ${value}`);
    });

  for (const key of REPORTS)
    it(`lets the node write ${key} on its own Node, and no plugin`, async () => {
      assert.equal(await isRefused(annotate("w-1", "w-1", { [key]: "a" })), false);
      assert.equal(await isRefused(annotate("administrator", "w-1", { [key]: "b" })), false);
      for (const options of [{}, { subresource: "status" as const }]) {
        assert.ok(await isRefused(annotate("plugin", "w-1", { [key]: "c" }, options)));
        assert.ok(await isRefused(annotate("plugin", "w-1", { [key]: null }, options)));
      }
      assert.equal(await isRefused(annotate("w-1", "w-1", { [key]: null })), false);
    });

  it("lets no node write to another Node", async () => {
    for (const key of [...COMMANDS, ...REPORTS])
      await assert.rejects(annotate("w-2", "w-1", { [key]: "x" }), KubernetesError);
  });

  it("refuses a new Node that brings a command, and lets a node register itself", async () => {
    const metadata = { name: "w-3", annotations: { [KEYS.changesAllowed]: "true" } };
    const object = { apiVersion: "v1", kind: "Node", metadata };
    assert.ok(await isRefused(clients.plugin!.create(object)));
    const kubelet = await connect(api.kubeletKubeconfig("w-3"));
    try {
      assert.ok(await isRefused(kubelet.create(object)));
      await kubelet.create({ ...object, metadata: { name: "w-3" } });
    } finally {
      kubelet.close();
    }
  });

  it("lets a plugin write everything else, also on a Node with foresail's annotations", async () => {
    await annotate("administrator", "w-1", { [KEYS.changesAllowed]: "true" });
    await annotate("w-1", "w-1", { [KEYS.ready]: "true" });
    const own = { "flannel.alpha.coreos.com/public-ip": "192.0.2.1" };
    assert.equal(await isRefused(annotate("plugin", "w-1", own)), false);
    assert.equal(await isRefused(annotate("plugin", "w-1", own, { subresource: "status" })), false);
    const conditions = [{ type: "NetworkUnavailable", status: "False" }];
    const status = clients.plugin!.mergePatch(
      reference("w-1"),
      { status: { conditions } },
      { subresource: "status" },
    );
    assert.equal(await isRefused(status), false);
    const cordon = clients.plugin!.mergePatch(reference("w-1"), { spec: { unschedulable: true } });
    assert.equal(await isRefused(cordon), false);
  });

  it("lists its installation once", async () => {
    const inputs = { ...common, annotations: PATTERN, kubeconfig: UNKNOWN };
    const first = (await check?.({}, inputs))?.inputs as { steps: string[] };
    assert.deepEqual(first.steps, [
      `cluster: install the ValidatingAdmissionPolicy foresail-node-annotations, for the annotations ${PATTERN}`,
    ]);
    const second = (await check?.(first, inputs))?.inputs as { steps: string[] };
    assert.deepEqual(second.steps, []);
    assert.equal((await diff?.("demo", first, second))?.changes, false);
  });

  it("waits for the next version on a cluster of a release without the policy", async () => {
    const inputs = { ...common, annotations: PATTERN, kubeconfig: UNKNOWN };
    const older = { ...inputs, objects: readerObjects(false, false) };
    const same = (await check?.(older, inputs))?.inputs as { steps: string[] };
    assert.deepEqual(same.steps, []);
    assert.equal((await diff?.("demo", older, same))?.changes, false);
    const specification = { ...common.specification, version: "1.99.0" };
    const upgraded = (await check?.(same, { ...inputs, specification }))?.inputs as { steps: string[] };
    assert.deepEqual(
      upgraded.steps.map((step) => step.replace(/,.*/, "")),
      ["cluster: install the ValidatingAdmissionPolicy foresail-node-annotations"],
    );
    const afterwards = (await check?.(upgraded, { ...inputs, specification }))?.inputs as { steps: string[] };
    assert.deepEqual(afterwards.steps, []);
    assert.equal((await diff?.("demo", upgraded, afterwards))?.changes, false);
  });
});
