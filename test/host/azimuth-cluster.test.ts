import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { API } from "../../providers/azimuth/plan/names";
import { untilTrue } from "../engine/azimuth-fixture";
import { AzimuthHost } from "./azimuth-host";

const namespace = "az-demo";

interface Secret {
  data?: Record<string, string>;
}

describe("a cluster through Azimuth, on a real API server", function () {
  this.timeout(90_000);
  /** of the next start of the API server */
  const apiServerArguments: string[] = [];
  const fixture = new AzimuthHost({ apiServerArguments });
  const { inputs } = fixture;

  const secretRef = (name: string) => ({ apiVersion: "v1", kind: "Secret", namespace, name });
  const read = async (name: string, field: string) =>
    (await fixture.client.get<Secret>(secretRef(name)))?.data?.[field] ?? "";

  /** Starts the API server again with the configuration that the chart makes from the key: `data.key` as it is. */
  const encryptWith = async (key: string) => {
    const file = join(fixture.api.folder, "enc.yaml");
    const keys = [{ name: "key1", secret: key }];
    const resources = [{ resources: ["secrets"], providers: [{ secretbox: { keys } }, { identity: {} }] }];
    const apiVersion = "apiserver.config.k8s.io/v1";
    writeFileSync(file, JSON.stringify({ apiVersion, kind: "EncryptionConfiguration", resources }));
    apiServerArguments.splice(0, apiServerArguments.length, `--encryption-provider-config=${file}`);
    await fixture.api.stopApiServer();
    await fixture.api.startApiServer();
  };
  const putEtcdKey = async (key: string, fieldManager = "foresail") => {
    await fixture.client.delete(secretRef("demo-etcd-key"));
    const { apiVersion, kind, name } = secretRef("demo-etcd-key");
    await fixture.client.apply(
      { apiVersion, kind, metadata: { name, namespace }, data: { key } },
      { fieldManager },
    );
  };
  const etcdKeySteps = async (olds: object = inputs()) =>
    (await fixture.host.check("azimuth/EtcdKey", olds, inputs())).inputs;

  it("has an etcd encryption key with which a real API server starts and encrypts", async () => {
    const checked = await etcdKeySteps({});
    assert.deepEqual(checked["steps"], ["make a key in the Secret az-demo/demo-etcd-key"]);
    const { outputs } = await fixture.host.create("azimuth/EtcdKey", checked);
    assert.equal(outputs["made"], true);
    const key = await read("demo-etcd-key", "key");
    assert.equal(Buffer.from(key, "base64").length, 32);
    await encryptWith(key);
    const [name, text] = ["encrypted", "a text that must not be found on the disk"];
    const { apiVersion, kind } = secretRef(name);
    await fixture.client.create({ apiVersion, kind, metadata: { name, namespace }, stringData: { text } });
    const stored = await fixture.api.etcdValue(`/registry/secrets/${namespace}/${name}`);
    assert.match(stored.toString("latin1"), /^k8s:enc:secretbox:v1:key1:/);
    assert.ok(!stored.includes(text));
    assert.equal(Buffer.from(await read(name, "text"), "base64").toString(), text);
    assert.deepEqual((await etcdKeySteps())["steps"], []);
  });

  it("removes the second encoding of an earlier release's etcd key in a step, and keeps a key of others", async () => {
    const key = await read("demo-etcd-key", "key");
    const twice = Buffer.from(key).toString("base64");
    const old = inputs({ made: true });
    await putEtcdKey(twice);
    const checked = await etcdKeySteps();
    assert.deepEqual(checked["steps"], [
      "remove the second encoding of the key in the Secret az-demo/demo-etcd-key: kube-apiserver takes 32 bytes, not 44",
    ]);
    assert.equal((await fixture.host.diff("azimuth/EtcdKey", old, checked)).changes, true);
    assert.equal((await fixture.host.update("azimuth/EtcdKey", old, checked))["made"], true);
    assert.equal(await read("demo-etcd-key", "key"), key);
    assert.deepEqual((await etcdKeySteps())["steps"], []);

    const short = Buffer.from("0123456789abcdef").toString("base64");
    for (const theirs of [twice, short]) {
      await putEtcdKey(theirs, "someone");
      const again = await etcdKeySteps();
      assert.deepEqual(again["steps"], []);
      await fixture.host.update("azimuth/EtcdKey", old, again);
      assert.equal(await read("demo-etcd-key", "key"), theirs);
    }
    for (const bytes of [44, 16])
      assert.match(fixture.host.printed, new RegExp(`has ${bytes} bytes, and others made it`));
    assert.ok(!fixture.host.printed.includes(key) && !fixture.host.printed.includes(twice));
  });

  const azimuthCluster = { apiVersion: API.azimuth, kind: "Cluster", namespace, name: "demo" };
  const statusOf = async () =>
    (await fixture.client.get<{ status?: Record<string, unknown> }>(azimuthCluster))?.status ?? {};
  const prunes = async () => (await fixture.host.diff("azimuth/RecordPrune", inputs(), inputs())).changes;
  const prune = () => fixture.host.update("azimuth/RecordPrune", inputs(), inputs());

  it("names Cluster API's kubeconfig in its record without OpenID Connect", async () => {
    assert.equal(await prunes(), true);
    await prune();
    assert.equal((await statusOf())["kubeconfigSecretName"], "demo-kubeconfig");
    assert.equal(await prunes(), false);
  });

  it("gives its users a kubeconfig without credentials as soon as there is an issuer, and keeps it", async () => {
    const oidc = { apiVersion: API.identity, kind: "OIDCClient", metadata: { name: "kube-demo", namespace } };
    await fixture.client.create({ ...oidc, spec: { realmName: "az-demo" } });
    assert.equal(await prunes(), false, "there is no issuer yet");
    await fixture.client.mergePatch(
      { ...oidc, namespace, name: "kube-demo" },
      { status: { issuerUrl: "https://id.example.com/realms/az-demo", clientId: "kube-demo" } },
      { subresource: "status" },
    );
    const labels = { "cluster.x-k8s.io/cluster-name": "demo" };
    await fixture.client.mergePatch(secretRef("demo-kubeconfig"), { metadata: { labels } });
    assert.equal(await prunes(), true);
    assert.match(
      fixture.host.printed,
      /will write: write the users' kubeconfig to the Secret az-demo\/demo-kubeconfig-user/,
    );
    await prune();
    assert.equal((await statusOf())["kubeconfigSecretName"], "demo-kubeconfig-user");
    const text = Buffer.from(await read("demo-kubeconfig-user", "value"), "base64").toString();
    assert.match(text, /--oidc-client-id=kube-demo/);
    assert.doesNotMatch(text, /client-key-data|client-certificate-data|token:/);
    const secret = await fixture.client.get<{ metadata?: { labels?: object; ownerReferences?: object[] } }>(
      secretRef("demo-kubeconfig-user"),
    );
    assert.deepEqual(secret?.metadata?.labels, labels);
    const uid = (await fixture.client.get<{ metadata?: { uid?: string } }>(azimuthCluster))?.metadata?.uid;
    const owner = { apiVersion: API.azimuth, kind: "Cluster", name: "demo", uid };
    assert.deepEqual(secret?.metadata?.ownerReferences, [
      { ...owner, controller: true, blockOwnerDeletion: true },
    ]);
    assert.equal(await prunes(), false);
    await fixture.client.delete(secretRef("demo-kubeconfig-user"));
    assert.equal(await prunes(), true);
    await prune();
    assert.equal(await prunes(), false);
  });

  it("reports why users can't get a kubeconfig, and continues", async () => {
    const value = Buffer.from("hunter2").toString("base64");
    const before = await read("demo-kubeconfig", "value");
    await fixture.client.mergePatch(secretRef("demo-kubeconfig"), { data: { value } });
    assert.equal(await prunes(), false);
    assert.match(
      fixture.host.printed,
      /az-demo\/demo-kubeconfig can't be given to users: .* is refused: the kubeconfig has no clusters/,
    );
    assert.ok(!fixture.host.printed.includes("hunter2"));
    await fixture.client.mergePatch(secretRef("demo-kubeconfig"), { data: { value: before } });
  });

  const realm = (name: string) => ({
    apiVersion: API.identity,
    kind: "Realm",
    metadata: { name, namespace },
    spec: {},
  });
  const ready = (over: object) => ({
    kubeconfig: fixture.api.kubeconfig(),
    stack: "foresail/test",
    timeoutSeconds: 5,
    wait: {},
    mustExist: true,
    ...over,
  });

  it("uses the first Realm of its namespace, and keeps it", async () => {
    const desired = ready({ object: { apiVersion: API.identity, kind: "Realm", namespace } });
    const { refusals } = await fixture.host.check("kubernetes/ObjectReady", {}, desired);
    assert.deepEqual(
      refusals.map(({ reason }) => reason),
      ["there is no Realm in the namespace az-demo; create one first"],
    );
    for (const name of ["tenancy", "az-demo"]) await fixture.client.create(realm(name));
    const { inputs: checked } = await fixture.host.check("kubernetes/ObjectReady", {}, desired);
    assert.equal((checked["object"] as { name: string }).name, "az-demo");
    const { id, outputs } = await fixture.host.create("kubernetes/ObjectReady", checked);
    assert.equal(id, "Realm.identity.azimuth.stackhpc.com/az-demo/az-demo");
    // a Realm that sorts first does not move the cluster's users
    await fixture.client.create(realm("a-new-one"));
    const { inputs: again } = await fixture.host.check("kubernetes/ObjectReady", checked, desired);
    assert.equal((again["object"] as { name: string }).name, "az-demo");
    assert.deepEqual(await fixture.host.diff("kubernetes/ObjectReady", outputs, again), {
      changes: false,
      replaces: [],
    });
    await fixture.client.delete({ ...realm("az-demo"), namespace, name: "az-demo" });
    const { inputs: other } = await fixture.host.check("kubernetes/ObjectReady", checked, desired);
    assert.equal((other["object"] as { name: string }).name, "a-new-one");
  });

  const makeTemplate = (name: string, kubernetesVersion: string, deprecated = false) =>
    fixture.client.create({
      apiVersion: API.azimuth,
      kind: "ClusterTemplate",
      metadata: { name },
      spec: {
        label: name,
        description: name,
        deprecated,
        values: { kubernetesVersion, machineImageId: "i" },
      },
    });
  const takeTemplate = async (name: string, { hasRecord = true, olds = {} } = {}) => {
    const guard = { rule: "azimuth/TemplateChange", namespace, cluster: "demo", hasRecord };
    const wait = { fields: { values: "spec.values" } };
    const object = { apiVersion: API.azimuth, kind: "ClusterTemplate", name };
    const checked = await fixture.host.check("kubernetes/ObjectReady", olds, ready({ object, wait, guard }));
    return { inputs: checked.inputs, refused: checked.refusals.map(({ reason }) => reason).join() };
  };

  it("refuses a template that admission would refuse, where there is no webhook", async () => {
    await makeTemplate("t", "1.35.4");
    await makeTemplate("next", "1.36.3");
    await makeTemplate("far", "1.37.0");
    await makeTemplate("old", "1.36.4", true);
    assert.equal((await takeTemplate("t")).refused, "");
    assert.equal((await takeTemplate("next")).refused, "");
    assert.match(
      (await takeTemplate("far")).refused,
      /more than one minor version ahead \(1.35.4 → 1.37.0\)/,
    );
    assert.match((await takeTemplate("old")).refused, /ClusterTemplate old is deprecated; choose another/);
    // without a record the state contains the cluster's version, and a new cluster accepts any version
    const { inputs: olds } = await takeTemplate("next", { hasRecord: false });
    assert.match(
      (await takeTemplate("t", { hasRecord: false, olds })).refused,
      /downgrade \(1.36.3 → 1.35.4\)/,
    );
    await fixture.client.create({
      apiVersion: API.clusterApi,
      kind: "Machine",
      metadata: { name: "demo-1", namespace, labels: { "capi.stackhpc.com/cluster": "demo" } },
      spec: { version: "v1.34.9" },
    });
    assert.match((await takeTemplate("next")).refused, /ahead of the oldest node \(1.34.9 → 1.36.3\)/);
  });

  it("refuses in the preview what admission refuses, by a dry run, and needs no right that a preview does not have", async () => {
    const policies = "admissionregistration.k8s.io/v1";
    const rule = { apiGroups: ["azimuth.stackhpc.com"], apiVersions: ["*"], resources: ["clusters"] };
    await fixture.client.create({
      apiVersion: policies,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "templates" },
      spec: {
        matchConstraints: { resourceRules: [{ ...rule, operations: ["CREATE", "UPDATE"] }] },
        validations: [
          { expression: "object.spec.templateName != 'denied'", message: "the template is denied" },
        ],
      },
    });
    await fixture.client.create({
      apiVersion: policies,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: "templates" },
      spec: { policyName: "templates", validationActions: ["Deny"] },
    });
    const spec = {
      label: "demo",
      cloudCredentialsSecretName: "c",
      controlPlaneMachineSize: "s",
      paused: true,
    };
    const record = (name: string, templateName: string, over: object = {}) => ({
      ...ready({ dryRun: true, ...over }),
      object: {
        apiVersion: API.azimuth,
        kind: "Cluster",
        metadata: { name, namespace },
        spec: { ...spec, templateName },
      },
    });
    const refusedOf = async (desired: object) =>
      (await fixture.host.check("kubernetes/Adoption", {}, { ...desired, mustExist: false })).refusals
        .map(({ reason }) => reason)
        .join();
    await untilTrue(
      "the policy to be in force",
      async () => (await refusedOf(record("fresh", "denied"))) !== "",
    );
    assert.match(
      await refusedOf(record("fresh", "denied")),
      /Cluster az-demo\/fresh: .*the template is denied/,
    );
    assert.match(
      await refusedOf(record("demo", "denied", { adopt: true })),
      /Cluster az-demo\/demo: .*the template is denied/,
    );
    assert.equal(await refusedOf(record("fresh", "next")), "");
    assert.equal(
      await fixture.client.get({ ...azimuthCluster, name: "fresh" }),
      undefined,
      "a preview made it",
    );

    const reader = { apiVersion: "rbac.authorization.k8s.io/v1" };
    await fixture.client.create({
      ...reader,
      kind: "ClusterRole",
      metadata: { name: "reads" },
      rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }],
    });
    await fixture.client.create({
      ...reader,
      kind: "ClusterRoleBinding",
      metadata: { name: "reads" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reads" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "reader" }],
    });
    const kubeconfig = fixture.api.server.userKubeconfig("reader");
    assert.equal(await refusedOf(record("fresh", "denied", { kubeconfig })), "", "no run can know");
  });
});
