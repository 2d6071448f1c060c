import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { API } from "../../core/azimuth/names";
import { TENANCY } from "../../sandbox/azimuth/tenancy";
import { azimuthGround, configure, liveObjects, untilTrue } from "./azimuth-ground";
import { untilOrphansEnd, upKilledWhen } from "./killed-up";

const { namespace } = TENANCY;
const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";

describe("what goes wrong with a cluster through Azimuth, under the engine", function () {
  this.timeout(180_000);
  const ground = azimuthGround();
  const { get } = liveObjects(ground);

  /** What a preview says that is refused. */
  const refusal = async (over: Record<string, unknown>): Promise<string> => {
    configure(ground, over);
    const { exitCode, stdout, stderr } = await ground.stack.call(["preview"]);
    assert.notEqual(exitCode, 0, stdout);
    return stdout + stderr;
  };

  /** Lets a webhook be asked about Clusters that never answers: each takes three seconds more. */
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
    await ground.management.apply({ apiVersion, kind, metadata: { name }, webhooks: [webhook] });
    return {
      end: async () => {
        await ground.management.delete({ apiVersion, kind, name });
        silent.close();
      },
    };
  };

  it("refuses what does not exist, and names what does", async () => {
    assert.match(
      await refusal({ templateName: "kube-9" }),
      /ClusterTemplate kube-9 does not exist; there are broken, flavourless, kube-1-36-3, kube-1-36-4/,
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
      assert.match(
        await refusal({ templateName: "broken" }),
        /ClusterTemplate broken has no spec.values.machineImageId/,
      );
    }
    assert.match(
      await refusal({ templateName: "flavourless" }),
      /flavourless has no spec.values.nodeGroups\[0\].machineFlavor, which a cluster with a lease needs; let whoever/,
    );
    assert.equal(await get(API.azimuth, "Cluster", "demo"), undefined, "something was made");
  });

  it("refuses a cluster that azimuth-capi-operator works on, with that reason", async () => {
    const ref = { apiVersion: API.azimuth, kind: "Cluster", namespace, name: "theirs" };
    const { apiVersion, kind } = ref;
    const spec = {
      label: "theirs",
      templateName: TENANCY.template,
      cloudCredentialsSecretName: TENANCY.credentials,
      controlPlaneMachineSize: "vm.small",
    };
    await ground.management.apply(
      { apiVersion, kind, metadata: { name: "theirs", namespace }, spec },
      { fieldManager: "azimuth-api" },
    );
    assert.match(
      await refusal({ name: "theirs" }),
      /Cluster az-demo\/theirs is not paused, so azimuth-capi-operator/,
    );
    await ground.management.delete(ref);
  });

  it("names the verb and the resource that the credentials may not", async () => {
    await ground.stack.setSecret("managementKubeconfig", ground.api.server.userKubeconfig("somebody"));
    try {
      assert.match(
        await refusal({}),
        /GET .* User "somebody" cannot get resource "(secrets|clustertemplates)" in API group/,
      );
    } finally {
      await ground.stack.setSecret("managementKubeconfig", ground.api.kubeconfig());
    }
  });

  it("names what installs a kind that is missing", async () => {
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      name: "oidcclients.identity.azimuth.stackhpc.com",
    };
    const found = await ground.management.get<{ spec: object }>(definition);
    await ground.management.delete(definition, { propagationPolicy: "Background" });
    assert.match(
      await refusal({}),
      /no kind OIDCClient in identity.azimuth.stackhpc.com\/v1alpha1; install azimuth-identity-operator first/,
    );
    const { apiVersion, kind, name } = definition;
    await ground.management.create({ apiVersion, kind, metadata: { name }, spec: found?.spec });
  });

  it("warns of a size that the lease reserved nothing of", async () => {
    configure(ground, { nodeGroups: [{ name: "workers", machineSize: "vm.larg", count: 1 }] });
    const { stdout } = await ground.stack.call(["preview"]);
    assert.match(
      stdout,
      /reserved nothing of the size "vm.larg" of nodeGroups\[workers\]; did you mean "vm.large"\?/,
    );
  });

  it("ends with the message of an object that failed, and goes on from there when that is mended", async () => {
    configure(ground);
    ground.standIns.faults.set("OIDCClient", { failed: "the realm has no such client scope" });
    const { exitCode, stdout, stderr } = await ground.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(
      stdout + stderr,
      /OIDCClient az-demo\/kube-demo failed: .*the realm has no such client scope/,
    );
    ground.standIns.faults.clear();
  });

  it("is mended by the run after one that was killed while Helm installed, which says so", async () => {
    const hook = await slowDownClusters();
    let isPending = false;
    const seen = untilTrue(
      "Helm to begin",
      async () => (isPending = (await get("v1", "Secret", "sh.helm.release.v1.demo.v1")) !== undefined),
      60,
    );
    const killed = await upKilledWhen(ground.stack, "the whole tree", () =>
      isPending ? { step: "install" } : undefined,
    );
    await seen;
    assert.ok(killed.killed, killed.output);
    await untilOrphansEnd(killed.orphans);
    await hook.end();
    // an hour has passed: nobody is at work on it any more
    await ground.management.mergePatch(
      { apiVersion: "v1", kind: "Secret", namespace, name: "sh.helm.release.v1.demo.v1" },
      { metadata: { labels: { createdAt: "1" } } },
    );
    await ground.stack.clearDeadLocks();
    ground.stack.printed = "";
    await ground.stack.up();
    assert.match(ground.stack.printed, /forget revision 1 \((pending-install|deployed)\) of az-demo\/demo/);
    assert.ok(await get(API.clusterApi, "Cluster", "demo"));
  });

  it("refuses the objects of another stack, which it names", async () => {
    const other = await ground.other().create();
    await other.setSecret("managementKubeconfig", ground.api.kubeconfig());
    other.configure(ground.values());
    const { exitCode, stdout, stderr } = await other.call(["preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, /Cluster az-demo\/demo belongs to the stack foresail\/test/);
  });

  it("leaves another stack's cluster in the same tenancy alone", async () => {
    const other = ground.other();
    other.configure(ground.values({ name: "second", leaseName: undefined, zenith: undefined }));
    await other.up();
    await ground.stack.destroy();
    assert.ok(await get(API.clusterApi, "Cluster", "second"));
    await other.destroy();
    assert.equal(await get(API.azimuth, "Cluster", "second"), undefined);
  });
});
