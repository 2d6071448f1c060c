import assert from "node:assert/strict";
import { monitorServices } from "../../providers/azimuth/client/services-monitor";
import { resumeCluster } from "../../providers/azimuth/client/cluster-record";
import { KubernetesClient } from "../../lib/kubernetes";
import { API } from "../../providers/azimuth/plan/names";
import { untilTrue } from "../engine/azimuth-fixture";
import { ApiRelay } from "../simulation/api-relay";
import { AzimuthHost } from "./azimuth-host";

const namespace = "az-demo";
const REF = { namespace, cluster: "demo", hasRecord: true };

interface Live {
  metadata: { uid: string; ownerReferences?: { uid: string; controller?: boolean }[] };
  spec: { zenithServices?: Record<string, unknown> };
  status?: { services?: Record<string, unknown>; nodes?: Record<string, unknown>; lastUpdated?: string };
}

describe("a cluster through Azimuth after changes while nothing ran", function () {
  this.timeout(90_000);
  const fixture = new AzimuthHost();
  const { inputs, services, platform } = fixture;

  const get = (apiVersion: string, kind: string, name: string) =>
    fixture.client.get<Live>({ apiVersion, kind, namespace, name });
  const monitor = (management = fixture.client) => {
    const end = new AbortController();
    const said: string[] = [];
    const done = monitorServices({
      management,
      place: REF,
      signal: end.signal,
      say: (line) => said.push(line),
    });
    return { said, stop: async () => (end.abort(), done) };
  };
  const OWNER = { apiVersion: API.azimuth, kind: "Cluster", name: "demo" };

  it("has its owner again when it is resumed after a restore gave the owner another uid", async () => {
    const { uid } = (await get(API.azimuth, "Cluster", "demo"))!.metadata;
    const stale = { ...OWNER, uid: "00000000-0000-0000-0000-000000000000", controller: true };
    const others = { apiVersion: "v1", kind: "ConfigMap", name: "of-others", uid: "uid-of-others" };
    await fixture.client.create({
      apiVersion: API.identity,
      kind: "OIDCClient",
      metadata: { name: "kube-demo", namespace, ownerReferences: [stale, others] },
      spec: { realmName: "az-demo" },
    });
    const lines = await resumeCluster(fixture.client, { ...REF, owner: OWNER });
    assert.ok(
      lines.includes("OIDCClient az-demo/kube-demo: belongs to Cluster demo again"),
      lines.join("\n"),
    );
    const live = await get(API.identity, "OIDCClient", "kube-demo");
    const owners = live?.metadata.ownerReferences ?? [];
    assert.deepEqual(
      owners.map((owner) => [owner.uid, owner.controller ?? false]).sort(),
      [
        [uid, true],
        ["uid-of-others", false],
      ].sort(),
    );
    assert.deepEqual(await resumeCluster(fixture.client, { ...REF, owner: OWNER }), []);
  });

  it("has its machines in the record by their label or by an equal annotation", async () => {
    const mark = { "capi.stackhpc.com/cluster": "demo" };
    const make = (name: string, marks: object) =>
      fixture.client.create({
        apiVersion: API.clusterApi,
        kind: "Machine",
        metadata: { name, namespace, ...marks },
        spec: { clusterName: "demo", bootstrap: {}, infrastructureRef: {} },
      });
    await make("by-label", { labels: mark });
    await make("by-annotation", { annotations: mark });
    await make("of-others", { labels: { "capi.stackhpc.com/cluster": "other" } });
    await resumeCluster(fixture.client, { ...REF, owner: OWNER });
    const { status } = (await get(API.azimuth, "Cluster", "demo"))!;
    assert.deepEqual(Object.keys(status?.nodes ?? {}).sort(), ["by-annotation", "by-label"]);
    for (const name of ["by-label", "by-annotation", "of-others"])
      await fixture.client.delete({ apiVersion: API.clusterApi, kind: "Machine", namespace, name });
  });

  it("keeps no time of a transition that is over", async () => {
    const status = (fields: object) =>
      fixture.client.mergePatch({ ...OWNER, namespace }, { status: fields }, { subresource: "status" });
    const conditions = ["Ready", "ControlPlaneComponentsHealthy"].map((type) => ({ type, status: "True" }));
    const labels = { "capi.stackhpc.com/cluster": "demo" };
    const made: [string, string, object][] = [
      [API.clusterApi, "Cluster", { phase: "Provisioned" }],
      [API.controlPlane, "KubeadmControlPlane", { conditions }],
      [API.addons, "HelmRelease", { phase: "Deployed" }],
    ];
    for (const [apiVersion, kind, state] of made) {
      const name = kind === "HelmRelease" ? "demo-site" : "demo";
      if (kind !== "HelmRelease")
        await fixture.client.create({ apiVersion, kind, metadata: { name, namespace, labels }, spec: {} });
      await fixture.client.mergePatch(
        { apiVersion, kind, namespace, name },
        { status: state },
        { subresource: "status" },
      );
    }
    const at = async () => (await get(API.azimuth, "Cluster", "demo"))?.status?.lastUpdated;
    const stamp = (fingerprint: string, moment = "end") =>
      fixture.host.create("azimuth/StatusStamp", inputs({ moment, fingerprint }));
    await status({ lastUpdated: "2026-01-01T00:00:00.000000+00:00" });
    await stamp("ready");
    assert.equal(await at(), undefined, "after a run whose cluster is Ready");
    assert.match(fixture.host.printed, /status.lastUpdated is cleared, because the cluster is Ready/);
    await status({ lastUpdated: "2026-01-01T00:00:00.000000+00:00" });
    await resumeCluster(fixture.client, { ...REF, owner: OWNER });
    assert.equal(await at(), undefined, "after the monitor's start");
    await status({ lastUpdated: "2026-01-01T00:00:00.000000+00:00" });
    await stamp("next", "start");
    const started = Date.parse((await at()) ?? "");
    assert.ok(
      Date.now() - started < 60_000,
      "another transition has its own time, not one of 30 minutes ago",
    );
    await fixture.client.mergePatch(
      { apiVersion: API.clusterApi, kind: "Cluster", namespace, name: "demo" },
      { status: { phase: "Provisioning" } },
      { subresource: "status" },
    );
    await stamp("reconciling");
    assert.match((await at()) ?? "", /^20\d\d-.*\+00:00$/);
  });

  it("has the Platform's services while the cluster itself can't be reached", async () => {
    const leadTo = (target: string) =>
      fixture.client.mergePatch(
        { apiVersion: "v1", kind: "Secret", namespace, name: "demo-kubeconfig" },
        { data: { value: Buffer.from(target).toString("base64") } },
      );
    const nowhere = fixture.api.kubeconfig().replace(/https:\/\/[^\s"']+/g, "https://127.0.0.1:9");
    await leadTo(nowhere);
    const shown = { subdomain: "known", fqdn: "known.example.com", label: "Known" };
    await fixture.client.mergePatch(
      { ...OWNER, namespace },
      { status: { services: { known: shown } } },
      { subresource: "status" },
    );
    await fixture.client.mergePatch(
      { apiVersion: API.identity, kind: "Platform", namespace, name: "kube-demo" },
      { spec: { zenithServices: null } },
    );
    const running = monitor();
    try {
      await untilTrue("the Platform's service", async () => (await platform()).includes("known"));
      assert.ok((await services()).includes("known"));
    } finally {
      await running.stop();
      await leadTo(fixture.api.kubeconfig());
    }
  });

  it("has its services without kinds that the management cluster does not serve", async () => {
    const relay = await ApiRelay.open(fixture.api);
    relay.refuse = ({ url: { pathname } }) =>
      /^\/apis\/(identity\.azimuth|addons)\.stackhpc\.com\//.test(pathname)
        ? { status: 404, reason: "NotFound", message: "the server could not find the requested resource" }
        : undefined;
    const kubeconfig = relay.kubeconfig();
    const desired = inputs({ hasRecord: true, kubeconfig });
    await fixture.client.mergePatch(
      { ...OWNER, namespace },
      { status: { services: { stale: { subdomain: "s", fqdn: "s", label: "S" } } } },
      { subresource: "status" },
    );
    assert.equal((await fixture.host.diff("azimuth/ServiceSync", desired, desired)).changes, true);
    const management = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
    const running = monitor(management);
    try {
      await untilTrue("the record's services to go", async () => (await services()).length === 0);
      assert.deepEqual(
        running.said.filter((line) => line.includes("has no kind")),
        [],
      );
    } finally {
      await running.stop();
      management.close();
      await relay.close();
    }
  });
});
