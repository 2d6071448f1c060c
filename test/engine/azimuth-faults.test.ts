import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { API, LEASE_FINALIZER } from "../../providers/azimuth/plan/names";
import { TENANCY } from "../../sandbox/azimuth/tenancy";
import { azimuthFixture, configure, type Live, liveObjects, untilTrue } from "./azimuth-fixture";
import { untilOrphansEnd, upKilledWhen } from "./killed-up";

const { namespace } = TENANCY;
const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";

describe("failures of a cluster through Azimuth, under the engine", function () {
  this.timeout(180_000);
  const fixture = azimuthFixture();
  const { get } = liveObjects(fixture);

  /** The message of a refused preview. */
  const refusal = async (over: Record<string, unknown>): Promise<string> => {
    configure(fixture, over);
    const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
    assert.notEqual(exitCode, 0, stdout);
    return stdout + stderr;
  };

  /** Registers a webhook for Clusters that never answers: each write takes three seconds more. */
  const slowDownClusters = async (): Promise<{ end: () => Promise<void> }> => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const apiVersion = "admissionregistration.k8s.io/v1";
    const [kind, name] = ["ValidatingWebhookConfiguration", "silent"];
    const rule = { apiGroups: ["cluster.x-k8s.io"], apiVersions: ["*"], resources: ["clusters"] };
    const webhook = {
      name: "silent.example.com",
      clientConfig: { url },
      timeoutSeconds: 3,
      failurePolicy: "Ignore",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      rules: [{ ...rule, operations: ["CREATE"] }],
    };
    await fixture.management.apply({ apiVersion, kind, metadata: { name }, webhooks: [webhook] });
    return {
      end: async () => {
        await fixture.management.delete({ apiVersion, kind, name });
        silent.close();
      },
    };
  };

  it("refuses names that do not exist, and lists those that do", async () => {
    assert.match(
      await refusal({ templateName: "kube-9" }),
      /ClusterTemplate kube-9 does not exist; there are flavorless, kube-1-36-3, kube-1-36-4/,
    );
    if (BY_NIGHT) {
      assert.match(
        await refusal({ zenithIdentityRealmName: "az-other" }),
        /Realm az-demo\/az-other does not exist; there are az-demo/,
      );
      assert.match(
        await refusal({ leaseName: "later" }),
        /Lease az-demo\/later does not exist; there are demo/,
      );
    }
    assert.match(
      await refusal({ templateName: "flavorless" }),
      /flavorless has no spec.values.nodeGroups\[0\].machineFlavor, which a cluster with a lease needs; add it/,
    );
    assert.equal(await get(API.azimuth, "Cluster", "demo"), undefined, "something was made");
  });

  it("refuses a chart that renders no file with the key, before it reserves a name", async () => {
    const chart = path.join(fixture.folder, "keyless-chart");
    mkdirSync(path.join(chart, "templates"), { recursive: true });
    writeFileSync(path.join(chart, "Chart.yaml"), "{apiVersion: v2, name: keyless, version: 1.0.0}");
    const objects = [
      "{apiVersion: v1, kind: Pod, metadata: {name: p}}",
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {client-apiserver.yaml: 'server_port: 22'}}",
    ];
    writeFileSync(path.join(chart, "templates", "all.yaml"), objects.join("\n---\n"));
    const { charts } = fixture.values()["azimuth"] as { charts: object };
    assert.match(
      await refusal({ charts: { ...charts, zenithApiServer: { chart } } }),
      /zenithApiServer\) renders no file with the private key as ssh_private_key_data/,
    );
    assert.equal(fixture.registrar.reservations.length, 0);
    assert.equal(await get(API.azimuth, "Cluster", "demo"), undefined, "something was made");
  });

  it("refuses a cluster that azimuth-capi-operator manages, and says so", async () => {
    const ref = { apiVersion: API.azimuth, kind: "Cluster", namespace, name: "theirs" };
    const { apiVersion, kind } = ref;
    const spec = {
      label: "theirs",
      templateName: TENANCY.template,
      cloudCredentialsSecretName: TENANCY.credentials,
      controlPlaneMachineSize: "vm.small",
    };
    await fixture.management.apply(
      { apiVersion, kind, metadata: { name: "theirs", namespace }, spec },
      { fieldManager: "azimuth-api" },
    );
    assert.match(
      await refusal({ name: "theirs" }),
      /Cluster az-demo\/theirs is not paused, so azimuth-capi-operator/,
    );
    await fixture.management.delete(ref);
  });

  it("names the verb and the resource that the credentials do not allow", async () => {
    await fixture.stack.setSecret("managementKubeconfig", fixture.api.server.userKubeconfig("someone"));
    try {
      assert.match(
        await refusal({}),
        /GET .* User "someone" cannot get resource "(secrets|clustertemplates)" in API group/,
      );
    } finally {
      await fixture.stack.setSecret("managementKubeconfig", fixture.api.kubeconfig());
    }
  });

  it("names what installs a kind that is missing", async () => {
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      name: "oidcclients.identity.azimuth.stackhpc.com",
    };
    const found = await fixture.management.get<{ spec: object }>(definition);
    await fixture.management.delete(definition, { propagationPolicy: "Background" });
    assert.match(
      await refusal({}),
      /no kind OIDCClient in identity.azimuth.stackhpc.com\/v1alpha1; install azimuth-identity-operator first/,
    );
    const { apiVersion, kind, name } = definition;
    await fixture.management.create({ apiVersion, kind, metadata: { name }, spec: found?.spec });
  });

  it("warns about a flavor that the lease does not reserve", async () => {
    configure(fixture, { nodeGroups: [{ name: "workers", machineSize: "vm.larg", count: 1 }] });
    const { stdout } = await fixture.stack.call(["preview"]);
    assert.match(
      stdout,
      /reserved nothing of the size "vm.larg" of nodeGroups\[workers\]; did you mean "vm.large"\?/,
    );
  });

  it("fails with the message of the failed object, and continues from there when it is fixed", async () => {
    configure(fixture);
    fixture.controllers.faults.set("OIDCClient", { failed: "the realm has no such client scope" });
    const { exitCode, stdout, stderr } = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(
      stdout + stderr,
      /OIDCClient az-demo\/kube-demo failed: .*the realm has no such client scope/,
    );
    fixture.controllers.faults.clear();
  });

  it("recovers in the run after one that was killed during the Helm installation, and says so", async () => {
    const hook = await slowDownClusters();
    let isPending = false;
    const seen = untilTrue(
      "Helm to begin",
      async () => (isPending = (await get("v1", "Secret", "sh.helm.release.v1.demo.v1")) !== undefined),
      60,
    );
    const killed = await upKilledWhen(fixture.stack, "the whole tree", () =>
      isPending ? { step: "install" } : undefined,
    );
    await seen;
    assert.ok(killed.killed, killed.output);
    await untilOrphansEnd(killed.orphans);
    await hook.end();
    // an hour has passed: no run is working on it any more
    await fixture.management.mergePatch(
      { apiVersion: "v1", kind: "Secret", namespace, name: "sh.helm.release.v1.demo.v1" },
      { metadata: { labels: { createdAt: "1" } } },
    );
    await fixture.stack.clearDeadLocks();
    fixture.stack.printed = "";
    await fixture.stack.up();
    assert.match(fixture.stack.printed, /forget revision 1 \((pending-install|deployed)\) of az-demo\/demo/);
    assert.ok(await get(API.clusterApi, "Cluster", "demo"));
  });

  it("refuses the objects of another stack, which it names", async () => {
    const other = await fixture.other().create();
    await other.setSecret("managementKubeconfig", fixture.api.kubeconfig());
    for (const over of [{}, { adopt: true }]) {
      other.configure(fixture.values(over));
      for (const args of [["preview"], ["up", "--yes", "--skip-preview"]]) {
        const { exitCode, stdout, stderr } = await other.call(args);
        assert.notEqual(exitCode, 0);
        assert.match(
          stdout + stderr,
          /Cluster az-demo\/demo belongs to the stack organization\/foresail\/test \([0-9a-f-]{36}\)/,
        );
      }
    }
  });

  it("does not touch another stack's cluster in the same tenancy", async () => {
    const other = fixture.other();
    other.configure(fixture.values({ name: "second", leaseName: undefined, zenith: undefined }));
    await other.up();
    await fixture.stack.destroy();
    assert.ok(await get(API.clusterApi, "Cluster", "second"));
    await other.destroy();
    assert.equal(await get(API.azimuth, "Cluster", "second"), undefined);
  });

  it("hands a cluster over by takeOver with its Helm release, and the former stack's destroy touches nothing", async () => {
    const over = { name: "given", leaseName: undefined, zenith: undefined };
    configure(fixture, over);
    await fixture.stack.up();
    const resourcesOf = async () => (await fixture.stack.export()).deployment.resources ?? [];
    const identity = (await resourcesOf()).find(({ type }) => type.endsWith(":StackIdentity"));
    const id = (identity as { id?: string } | undefined)?.id ?? "";
    const other = fixture.other();
    other.configure(fixture.values({ ...over, takeOver: id }));
    const from = `take it over from organization/foresail/test (${id})`;
    const record = (await other.preview()).find(({ name }) => name === "given-record");
    assert.deepEqual(record?.inputs["steps"], [from]);
    await other.up();
    const { exitCode, stdout, stderr } = await fixture.stack.call(["destroy", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(
      stdout + stderr,
      /Cluster az-demo\/given belongs to the stack organization\/foresail\/other.*nothing of the cluster was touched/s,
    );
    const cluster = () => get(API.clusterApi, "Cluster", "given");
    assert.equal((await cluster())?.metadata.deletionTimestamp, undefined);
    const urn = (await resourcesOf()).find((resource) => resource.urn.endsWith("::given-record"))?.urn ?? "";
    const forget = ["state", "delete", "--force", "--target-dependents", "--yes", urn];
    assert.equal((await fixture.stack.call(forget)).exitCode, 0);
    await fixture.stack.destroy();
    assert.ok(await cluster());
    assert.equal((await cluster())?.metadata.deletionTimestamp, undefined);
    await other.destroy();
    assert.deepEqual([await cluster(), await get(API.azimuth, "Cluster", "given")], [undefined, undefined]);
  });

  it("releases the Lease of a cluster that azimuth-capi-operator handed over, and only when the cluster is gone", async () => {
    const { management } = fixture;
    const cluster = { apiVersion: API.azimuth, kind: "Cluster", namespace, name: "handed-over" };
    const lease = { apiVersion: API.scheduling, kind: "Lease", namespace, name: TENANCY.lease };
    const { apiVersion, kind, name } = cluster;
    const spec = {
      label: "handed over",
      paused: true,
      templateName: TENANCY.template,
      cloudCredentialsSecretName: TENANCY.credentials,
      controlPlaneMachineSize: "vm.small",
      leaseName: TENANCY.lease,
    };
    const object = { apiVersion, kind, metadata: { name, namespace }, spec };
    const { metadata } = await management.apply<Live>(object, { fieldManager: "azimuth-api" });
    const { finalizers = [] } = (await get(API.scheduling, "Lease", TENANCY.lease))?.metadata ?? {};
    await management.mergePatch(
      lease,
      {
        metadata: {
          finalizers: [...finalizers, LEASE_FINALIZER],
          ownerReferences: [{ apiVersion, kind, name, uid: metadata.uid, blockOwnerDeletion: true }],
        },
      },
      { fieldManager: "azimuth-capi-operator" },
    );
    configure(fixture, { name, label: "handed over", zenith: undefined, adopt: true });
    await fixture.stack.up();
    fixture.controllers.faults.set("Cluster", { neverReady: true });
    const destroyed = fixture.stack.destroy();
    const held = async () => (await get(API.scheduling, "Lease", TENANCY.lease))?.metadata.finalizers ?? [];
    try {
      await untilTrue("the cluster to be deleted", async () =>
        Boolean((await get(API.clusterApi, "Cluster", name))?.metadata.deletionTimestamp),
      );
      assert.deepEqual(await held(), [...finalizers, LEASE_FINALIZER]);
    } finally {
      fixture.controllers.faults.clear();
      await destroyed;
    }
    assert.deepEqual(await held(), finalizers);
    assert.ok(await get(API.azimuth, "Cluster", name), "the record is not this stack's to delete");
    await management.delete(cluster);
    await untilTrue(
      "the Lease to go with its owner",
      async () => (await get(API.scheduling, "Lease", TENANCY.lease)) === undefined,
    );
  });
});
