import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { monitorServices } from "../../providers/azimuth/client/services-monitor";
import { resumeCluster } from "../../providers/azimuth/client/cluster-record";
import { KubernetesClient } from "../../lib/kubernetes";
import { API, SERVICES_ANNOTATION } from "../../providers/azimuth/plan/names";
import { untilTrue } from "../engine/azimuth-fixture";
import { ApiRelay } from "../simulation/api-relay";
import { AzimuthHost } from "./azimuth-host";

const namespace = "az-demo";
const REF = { namespace, cluster: "demo", hasRecord: true };

interface Live {
  metadata: {
    resourceVersion: string;
    annotations?: Record<string, string>;
    ownerReferences?: object[];
    finalizers?: string[];
  };
  spec: { zenithServices?: Record<string, unknown> };
  status?: { services?: Record<string, unknown>; lastUpdated?: string };
  data?: Record<string, string>;
}

describe("a cluster's objects in a management cluster with Azimuth", function () {
  this.timeout(90_000);
  const fixture = new AzimuthHost();
  const { inputs, services, platform } = fixture;
  const ends: AbortController[] = [];

  afterEach(() => ends.forEach((end) => end.abort()));

  const get = (apiVersion: string, kind: string, name: string) =>
    fixture.client.get<Live>({ apiVersion, kind, namespace, name });
  const noted = async () =>
    Object.keys(
      JSON.parse(
        (await get(API.addons, "HelmRelease", "demo-site"))?.metadata.annotations?.[SERVICES_ANNOTATION] ??
          "{}",
      ) as object,
    );
  const reserve = async (name: string) => {
    const release = { "meta.helm.sh/release-name": "site", "meta.helm.sh/release-namespace": namespace };
    const ref = { apiVersion: API.zenith, kind: "Reservation", namespace, name };
    const { apiVersion, kind } = ref;
    await fixture.client.apply({
      apiVersion,
      kind,
      metadata: { name, namespace, annotations: release },
      spec: {},
    });
    const status = { phase: "Ready", subdomain: name, fqdn: `${name}.example.com` };
    const written = await fixture.client.mergePatch<Live>(ref, { status }, { subresource: "status" });
    return { version: written.metadata.resourceVersion };
  };
  const giveUp = (name: string) =>
    fixture.client.delete({ apiVersion: API.zenith, kind: "Reservation", namespace, name });
  const inStep = (names: string[]) =>
    untilTrue(`the services ${names.join(", ") || "to go"}`, async () => {
      const wanted = names.map((name) => `${namespace}-${name}`).sort();
      const all = await Promise.all([services(), platform(), noted()]);
      return all.every((found) => JSON.stringify(found.sort()) === JSON.stringify(wanted));
    });
  const monitor = (management = fixture.client) => {
    const end = new AbortController();
    const said: string[] = [];
    const ref = { management, place: REF, signal: end.signal };
    const done = monitorServices({ ...ref, say: (line) => said.push(line) });
    ends.push(end);
    return { said, stop: async () => (end.abort(), done) };
  };

  it("gets a new time when the fingerprint changes, and only then", async () => {
    const desired = inputs({ moment: "end", fingerprint: "1" });
    const { outputs } = await fixture.host.create("azimuth/StatusStamp", desired);
    const at = async () => (await get(API.azimuth, "Cluster", "demo"))?.status?.lastUpdated;
    const first = await at();
    assert.match(first ?? "", /\+00:00$/);
    assert.equal((await fixture.host.diff("azimuth/StatusStamp", outputs, desired)).changes, false);
    const other = { ...desired, fingerprint: "2" };
    assert.equal((await fixture.host.diff("azimuth/StatusStamp", outputs, other)).changes, true);
    await fixture.host.update("azimuth/StatusStamp", outputs, other);
    assert.notEqual(await at(), first);
    await fixture.host.create("azimuth/StatusStamp", { ...desired, moment: "start", fingerprint: "3" });
    assert.match(fixture.host.printed, /status.lastUpdated is set already/);
  });

  it("has its services written by a run, and the next run has nothing to do", async () => {
    const desired = inputs({ hasRecord: true });
    await reserve("shop");
    const changes = async () => (await fixture.host.diff("azimuth/ServiceSync", desired, desired)).changes;
    assert.equal(await changes(), true);
    await fixture.host.update("azimuth/ServiceSync", desired, desired);
    await inStep(["shop"]);
    assert.equal(await changes(), false);
    await giveUp("shop");
    assert.equal(await changes(), true);
    await fixture.host.update("azimuth/ServiceSync", desired, desired);
    await inStep([]);
  });

  it("has its services up to date while the monitor runs, among concurrent writers and after restarts", async () => {
    const first = monitor();
    await reserve("one");
    await inStep(["one"]);
    // another client writes to the same objects all the time, and removes entries
    const storm = new AbortController();
    const stormed = (async () => {
      for (let count = 0; !storm.signal.aborted; count++) {
        const annotations = { storm: String(count) };
        const names = [
          [API.azimuth, "Cluster", "demo"],
          [API.identity, "Platform", "kube-demo"],
          [API.addons, "HelmRelease", "demo-site"],
        ] as const;
        for (const [apiVersion, kind, name] of names)
          await fixture.client.mergePatch(
            { apiVersion, kind, namespace, name },
            { metadata: { annotations } },
          );
      }
    })();
    await reserve("two");
    await fixture.client.mergePatch(
      { apiVersion: API.azimuth, kind: "Cluster", namespace, name: "demo" },
      {
        status: {
          services: { [`${namespace}-one`]: null, stale: { subdomain: "s", fqdn: "s", label: "S" } },
        },
      },
      { subresource: "status" },
    );
    try {
      await inStep(["one", "two"]);
    } finally {
      storm.abort();
      await stormed;
      await first.stop();
    }
    await giveUp("one");
    await reserve("three");
    const second = monitor();
    await inStep(["two", "three"]);
    await second.stop();
    assert.ok(
      second.said.some((line) => line.includes("one goes")),
      second.said.join("\n"),
    );
  });

  it("has its services up to date after an outage of the API", async () => {
    const running = monitor();
    await inStep(["two", "three"]);
    await fixture.api.stopApiServer();
    await pause(1500);
    await fixture.api.startApiServer();
    await reserve("four");
    await giveUp("two");
    await inStep(["three", "four"]);
    await running.stop();
  });

  it("has its services up to date when the watched version has expired", async () => {
    const relay = await ApiRelay.open(fixture.api);
    const kubeconfig = relay.kubeconfig();
    const leadTo = (target: string) =>
      fixture.client.mergePatch(
        { apiVersion: "v1", kind: "Secret", namespace, name: "demo-kubeconfig" },
        { data: { value: Buffer.from(target).toString("base64") } },
      );
    await leadTo(kubeconfig);
    const watching = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
    const running = monitor(watching);
    try {
      await untilTrue("its watches", () => Promise.resolve(relay.watching === 6));
      const { version } = await reserve("five");
      relay.forgetBefore(version);
      await fixture.client.mergePatch(
        { apiVersion: API.identity, kind: "Platform", namespace, name: "kube-demo" },
        { spec: { zenithServices: null } },
      );
      await inStep(["three", "four", "five"]);
      // of five kinds on the management cluster, and of the Reservations unless it has heard of the last
      assert.ok(relay.refused >= 5, `${relay.refused} watches were refused`);
    } finally {
      await leadTo(fixture.api.kubeconfig());
      await running.stop();
      watching.close();
      await relay.close();
    }
  });

  it("is written by a run and by the monitor, which retry on conflict", async () => {
    const relay = await ApiRelay.open(fixture.api);
    const left = new Map<string, number>();
    relay.refuse = ({ method, url: { pathname } }) => {
      const turns = left.get(pathname) ?? 3;
      if (method !== "PATCH" || turns === 0) return undefined;
      left.set(pathname, turns - 1);
      return { status: 409, reason: "Conflict", message: "the object has been modified" };
    };
    const kubeconfig = relay.kubeconfig();
    await reserve("six");
    const services = inputs({ hasRecord: true, kubeconfig });
    await fixture.host.update("azimuth/ServiceSync", services, services);
    await inStep(["three", "four", "five", "six"]);
    const stamp = inputs({ moment: "end", fingerprint: "9", kubeconfig });
    await fixture.host.create("azimuth/StatusStamp", stamp);
    assert.ok(relay.refused >= 9, `${relay.refused} conflicts`);
    left.clear();
    const management = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
    const running = monitor(management);
    await giveUp("six");
    await inStep(["three", "four", "five"]);
    await running.stop();
    management.close();
    await relay.close();
  });

  it("has its owner again when it is resumed", async () => {
    const machine = { apiVersion: API.scheduling, kind: "Lease", metadata: { name: "demo", namespace } };
    await fixture.client.create({
      ...machine,
      spec: { cloudCredentialsSecretName: "c", resources: { machines: [] } },
    });
    const ref = {
      ...REF,
      leaseName: "demo",
      owner: { apiVersion: API.azimuth, kind: "Cluster", name: "demo" },
    };
    const lines = await resumeCluster(fixture.client, ref);
    assert.ok(lines.includes("Lease az-demo/demo: belongs to Cluster demo again"), lines.join("\n"));
    const lease = await get(API.scheduling, "Lease", "demo");
    assert.deepEqual(lease?.metadata.finalizers, ["azimuth.stackhpc.com"]);
    assert.deepEqual(await resumeCluster(fixture.client, ref), []);
  });
});
