import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { parse } from "yaml";
import { monitorServices } from "../../providers/azimuth/client/services-monitor";
import { API, LEASE_FINALIZER, SERVICES_ANNOTATION } from "../../providers/azimuth/plan/names";
import { TENANCY } from "../../sandbox/azimuth/tenancy";
import { azimuthFixture, configure, type Live, liveObjects, untilTrue } from "./azimuth-fixture";

const { namespace } = TENANCY;
const OWN_SERVICE = "monitoring-system-kube-prometheus-stack-client";

interface TunnelFile {
  path: string;
  content?: string;
  contentFrom?: { secret: { name: string; key: string } };
}
const REF = { namespace, cluster: "demo", hasRecord: true };

describe("a cluster through Azimuth, under the engine", function () {
  this.timeout(180_000);
  const fixture = azimuthFixture();
  const { get } = liveObjects(fixture);
  const record = () => get(API.azimuth, "Cluster", "demo");
  const services = async () => Object.keys((await record())?.status?.services ?? {});
  const expectUnchanged = async () => assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  const calico = () => get(API.addons, "HelmRelease", "demo-cni-calico");

  const reservation = (name: string) => ({
    apiVersion: API.zenith,
    kind: "Reservation",
    metadata: {
      name,
      namespace: "tigera-operator",
      annotations: {
        "meta.helm.sh/release-name": "cni-calico",
        "meta.helm.sh/release-namespace": "tigera-operator",
      },
    },
    spec: {},
  });
  /** What Cluster API writes to a file of a machine. */
  const contentOf = async (file: TunnelFile | undefined): Promise<string> => {
    const { name = "", key = "" } = file?.contentFrom?.secret ?? {};
    const secret = file?.contentFrom && (await get("v1", "Secret", name));
    return Buffer.from(secret?.data?.[key] ?? file?.content ?? "", "base64").toString("utf8");
  };
  const reserve = (name: string) => fixture.management.apply(reservation(name));
  const giveUp = (name: string) =>
    fixture.management.delete({
      apiVersion: API.zenith,
      kind: "Reservation",
      namespace: "tigera-operator",
      name,
    });

  it("previews each step as a resource with what it will do, and changes nothing", async () => {
    configure(fixture);
    const preview = await fixture.stack.preview();
    const names = preview.map(({ name }) => name);
    const parts = [
      ...["template", "credentials", "record", "started", "etcd-key", "realm", "oidc-client"],
      ...["platform", "services", "lease", "zenith-key", "gone", "chart", "zenith-operator"],
      ...["finished", "prune"],
    ];
    for (const name of parts.map((part) => `demo-${part}`))
      assert.ok(names.includes(name), `${name} is not among ${names.join(", ")}`);
    const steps = (resource: string) => preview.find(({ name }) => name === resource)?.inputs.steps;
    assert.deepEqual(steps("demo-record"), ["make Cluster az-demo/demo"]);
    const zenith = String(steps("demo-zenith-key"));
    assert.match(zenith, /make an ed25519 key .* reserve a name/);
    assert.match(zenith, /write client-apiserver.yaml with the key to the Secret az-demo\/demo-zenith-files/);
    assert.equal(await record(), undefined);
  });

  it("runs the whole sequence, and a second up changes nothing", async () => {
    const monitoring = { neverReady: true };
    fixture.controllers.faults.set("Reservation", monitoring);
    await fixture.stack.up();
    const made = await record();
    assert.equal(made?.spec["paused"], true);
    // the fakes are quick: the cluster may be Ready already when the run ends
    assert.match(String(made?.status?.["lastUpdated"]), /^(\d{4}-.*\+00:00|undefined)$/);
    assert.match(
      fixture.stack.printed,
      /status.lastUpdated is (written|cleared, because the cluster is Ready)/,
    );
    const uid = made?.metadata.uid;
    const oidc = await get(API.identity, "OIDCClient", "kube-demo");
    assert.deepEqual(
      oidc?.metadata.ownerReferences?.map((owner) => owner.uid),
      [uid],
    );
    const lease = await get(API.scheduling, "Lease", "demo");
    assert.ok(lease?.metadata.finalizers?.includes(LEASE_FINALIZER));
    assert.deepEqual(
      lease?.metadata.ownerReferences?.map((owner) => [owner.uid, owner.controller ?? false]),
      [[uid, false]],
    );
    const { "vm.small": reserved = "" } = lease?.status?.["sizeNameMap"] as Record<string, string>;
    assert.match(reserved, /^reservation:/);
    const controlPlane = await get(API.controlPlane, "KubeadmControlPlane", "demo-control-plane");
    assert.deepEqual(controlPlane?.spec["machineTemplate"], {
      flavor: reserved,
      image: "3c9e-img",
    });
    assert.equal((controlPlane?.spec["oidc"] as { clientId: string }).clientId, "kube-demo");
    const { files } = controlPlane?.spec["kubeadmConfigSpec"] as { files: TunnelFile[] };
    assert.deepEqual(
      files.map(({ path }) => path),
      ["/etc/kubernetes/manifests/zenith-apiserver.yaml", "/etc/zenith/client-apiserver.yaml"],
    );
    const pod = parse(await contentOf(files[0])) as {
      spec: { containers: { name: string; env: object[] }[] };
    };
    const [container] = pod.spec.containers;
    const config = { name: "ZENITH_CLIENT_CONFIG", value: files[1]?.path };
    assert.deepEqual([container?.name, container?.env], ["zenith-client", [config]]);
    const settings = parse(await contentOf(files[1])) as Record<string, unknown>;
    const key = await get("v1", "Secret", "demo-zenith-apiserver");
    assert.equal(settings["ssh_private_key_data"], key?.data?.["id_ed25519"]);
    assert.equal(settings["server_address"], "zenith.sandbox.example");
    assert.equal(files[1]?.content, undefined, "the key is in the values");
    const outputs = await fixture.stack.outputs();
    assert.equal(outputs["apiHost"], `${fixture.registrar.reservations[0]?.subdomain}.apps.sandbox.example`);
    const operator = await get("apps/v1", "Deployment", "demo-zenith-operator");
    assert.deepEqual(
      operator?.metadata.ownerReferences?.map((owner) => owner.uid),
      [uid],
    );
    await untilTrue(
      "Cluster API's kubeconfig",
      async () => (await get("v1", "Secret", "demo-kubeconfig")) !== undefined,
    );
    await fixture.stack.up();
    assert.equal((await record())?.status?.["kubeconfigSecretName"], "demo-kubeconfig-user");
    const ofUsers = await get("v1", "Secret", "demo-kubeconfig-user");
    assert.deepEqual(
      ofUsers?.metadata.ownerReferences?.map((owner) => owner.uid),
      [uid],
    );
    await expectUnchanged();
  });

  it("never shows the private key, neither in the output nor in the state", async () => {
    const secret = await get("v1", "Secret", "demo-zenith-apiserver");
    const key = Buffer.from(secret?.data?.["id_ed25519"] ?? "", "base64").toString("utf8");
    const [, line = "none"] = key.split("\n");
    const state = JSON.stringify(await fixture.stack.export());
    for (const text of [fixture.stack.printed, state])
      for (const form of [line, Buffer.from(key).toString("base64").slice(0, 60)])
        assert.ok(!text.includes(form), "the private key is shown");
  });

  it("writes a service that appeared between two runs, only once", async () => {
    fixture.controllers.faults.clear();
    await untilTrue("the Reservation to be ready", async () => {
      const found = await fixture.management.get<Live>({
        apiVersion: API.zenith,
        kind: "Reservation",
        namespace: "monitoring-system",
        name: "kube-prometheus-stack-client",
      });
      return found?.status?.["phase"] === "Ready";
    });
    assert.deepEqual(await fixture.stack.up(), { updated: 1, unchanged: 23 });
    assert.deepEqual(await services(), [OWN_SERVICE]);
    await expectUnchanged();
  });

  it("keeps services up to date while the monitor runs, so that the next up changes nothing", async () => {
    const end = new AbortController();
    const said: string[] = [];
    const running = monitorServices({
      management: fixture.management,
      place: REF,
      signal: end.signal,
      say: (line) => said.push(line),
    });
    try {
      await reserve("dashboard");
      const begin = Date.now();
      await untilTrue("the service", async () => (await services()).includes("tigera-operator-dashboard"));
      await untilTrue("its annotation", async () =>
        Boolean((await calico())?.metadata.annotations?.[SERVICES_ANNOTATION]?.includes("Dashboard")),
      );
      assert.ok(Date.now() - begin < 3000, said.join("\n"));
      await untilTrue("the Platform's services", async () => {
        const platform = await get(API.identity, "Platform", "kube-demo");
        return Object.keys(platform?.spec["zenithServices"] ?? {}).includes("tigera-operator-dashboard");
      });
      await expectUnchanged();
      await giveUp("dashboard");
      await untilTrue(
        "the service to go",
        async () => !(await services()).includes("tigera-operator-dashboard"),
      );
      await untilTrue(
        "its annotation to go",
        async () => (await calico())?.metadata.annotations?.[SERVICES_ANNOTATION] === undefined,
      );
      await reserve("gone-by-night");
      await untilTrue("another service", async () =>
        (await services()).includes("tigera-operator-gone-by-night"),
      );
    } finally {
      end.abort();
      await running;
    }
    await giveUp("gone-by-night");
    await fixture.stack.up();
    assert.deepEqual(await services(), [OWN_SERVICE], "a service that went while the monitor was down");
  });

  it("previews a changed template with its versions, and rolls it out without a new key", async () => {
    // an apply would take a null for a field that is to go
    const made = {
      kubernetesVersion: "1.36.4",
      machineImageId: "3c9e-img",
      controlPlane: { machineCount: 1 },
    };
    const values = { ...made, registryMirrors: { "docker.io": null } };
    const spec = { label: "Without a mirror", description: "Takes a default of the chart away", values };
    const template = {
      apiVersion: API.azimuth,
      kind: "ClusterTemplate",
      metadata: { name: "without-mirror" },
    };
    await fixture.management.create({ ...template, spec });
    configure(fixture, { templateName: "without-mirror" });
    const preview = await fixture.stack.preview();
    const changed = preview.map(({ name }) => name).sort();
    assert.deepEqual(changed, [
      "demo-chart",
      "demo-finished",
      "demo-record",
      "demo-started",
      "demo-template",
    ]);
    const chart = preview.find(({ name }) => name === "demo-chart");
    assert.equal((chart?.inputs["values"] as { kubernetesVersion: string }).kubernetesVersion, "1.36.4");
    await fixture.stack.up();
    const controlPlane = await get(API.controlPlane, "KubeadmControlPlane", "demo-control-plane");
    assert.equal(controlPlane?.spec["version"], "v1.36.4");
    assert.match(String(chart?.inputs["chart"]), /^\.\/\.foresail\/charts\/openstack-cluster-[0-9a-z]{12}$/);
    assert.deepEqual(controlPlane?.spec["registryMirrors"], { "quay.io": ["https://quay.io/v2"] });
    await expectUnchanged();
    assert.equal(fixture.registrar.reservations.length, 1);
  });

  it("refuses in the preview a template that admission would refuse, and changes nothing", async () => {
    configure(fixture, { templateName: TENANCY.template });
    const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, /ClusterTemplate kube-1-36-3 would be a downgrade \(1.36.4 → 1.36.3\)/);
    assert.equal((await record())?.spec["templateName"], "without-mirror");
    configure(fixture, { templateName: "without-mirror" });
  });

  it("resumes: adopts objects that others changed meanwhile, and prunes those that are gone", async () => {
    const { management } = fixture;
    await management.mergePatch(
      { apiVersion: API.azimuth, kind: "Cluster", namespace, name: "demo" },
      {
        status: {
          nodes: { "demo-gone-1": { role: "worker", phase: "Ready" } },
          addons: { old: { phase: "Deployed" } },
        },
      },
      { subresource: "status" },
    );
    await management.mergePatch(
      { apiVersion: API.identity, kind: "OIDCClient", namespace, name: "kube-demo" },
      { metadata: { ownerReferences: null } },
    );
    await management.mergePatch(
      { apiVersion: API.scheduling, kind: "Lease", namespace, name: "demo" },
      { metadata: { finalizers: ["scheduling.azimuth.stackhpc.com"], ownerReferences: null } },
    );
    await fixture.stack.up();
    const status = (await record())?.status ?? {};
    assert.ok(!("demo-gone-1" in (status["nodes"] as object)) && !("old" in (status["addons"] as object)));
    assert.equal(status["nodeCount"], 3);
    assert.equal((await get(API.identity, "OIDCClient", "kube-demo"))?.metadata.ownerReferences?.length, 1);
    assert.ok((await get(API.scheduling, "Lease", "demo"))?.metadata.finalizers?.includes(LEASE_FINALIZER));
    await expectUnchanged();
  });

  it("says at the end of a lease that the cluster must be destroyed", async () => {
    await fixture.management.mergePatch(
      { apiVersion: API.scheduling, kind: "Lease", namespace, name: "demo" },
      { spec: { endsAt: new Date().toISOString(), gracePeriod: 0 } },
    );
    await untilTrue("the record to be deleted", async () =>
      Boolean((await record())?.metadata.deletionTimestamp),
    );
    const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, /Cluster az-demo\/demo is being deleted.*run pulumi destroy/);
  });

  it("releases the lease when the cluster is gone, and not before", async () => {
    fixture.controllers.faults.set("Cluster", { neverReady: true });
    const destroyed = fixture.stack.destroy();
    await untilTrue("the cluster to be deleted", async () =>
      Boolean((await get(API.clusterApi, "Cluster", "demo"))?.metadata.deletionTimestamp),
    );
    await pause(1500);
    assert.ok((await get(API.scheduling, "Lease", "demo"))?.metadata.finalizers?.includes(LEASE_FINALIZER));
    fixture.controllers.faults.clear();
    await destroyed;
    assert.equal(await record(), undefined);
    assert.equal(await get(API.identity, "Platform", "kube-demo"), undefined);
    for (const name of [
      "demo-zenith-apiserver",
      "demo-zenith-files",
      "demo-etcd-key",
      "demo-zenith-operator",
    ])
      assert.equal(await get("v1", "Secret", name), undefined, name);
    await untilTrue(
      "the users' kubeconfig to go with its owner",
      async () => (await get("v1", "Secret", "demo-kubeconfig-user")) === undefined,
    );
    await untilTrue(
      "the ended Lease to go",
      async () => (await get(API.scheduling, "Lease", "demo")) === undefined,
    );
  });
});
