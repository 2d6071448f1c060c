import assert from "node:assert/strict";
import { monitorServices } from "../../providers/azimuth/client/services-monitor";
import { API, LEASE_FINALIZER, SERVICES_ANNOTATION } from "../../providers/azimuth/plan/names";
import { TENANCY } from "../../sandbox/azimuth/tenancy";
import { leaveOut } from "../left-out";
import { readExample } from "../support/example-file";
import { azimuthFixture, liveObjects, untilTrue } from "./azimuth-fixture";

const { namespace } = TENANCY;
const RELEASE_NAMESPACE = "tigera-operator";
const SERVICE = `${RELEASE_NAMESPACE}-dashboard`;
const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";

type Section = Record<string, unknown> & { zenith: Record<string, unknown> };

describe("the example of a cluster through Azimuth, on the sandbox's fakes", function () {
  this.timeout(240_000);
  before(function () {
    if (!BY_NIGHT)
      leaveOut(
        this,
        "azimuth.test.ts creates and destroys such a cluster by default; FORESAIL_TEST_ALL=1 includes this one",
      );
  });
  const fixture = azimuthFixture();
  const { get } = liveObjects(fixture);
  const zenithServices = async () =>
    Object.keys((await get(API.identity, "Platform", "kube-demo"))?.spec["zenithServices"] ?? {});
  const calico = () => get(API.addons, "HelmRelease", "demo-cni-calico");

  /** The example as it is, with the addresses and the charts of the sandbox. */
  const configureExample = (over: Record<string, unknown> = {}) => {
    const { zenith, ...section } = readExample("azimuth", "dev-demo")["azimuth"] as Section;
    const { charts } = fixture.values()["azimuth"] as { charts: unknown };
    const { url: registrarAdminUrl } = fixture.registrar;
    const azimuth = { ...section, zenith: { ...zenith, registrarAdminUrl }, charts, ...over };
    fixture.stack.configure({ system: "azimuth", azimuth });
  };

  /** Adds and removes a service while the monitor runs. */
  const serve = async (hasRecord: boolean): Promise<string[]> => {
    const end = new AbortController();
    const said: string[] = [];
    const place = { namespace, cluster: "demo", hasRecord };
    const say = (line: string) => said.push(line);
    const running = monitorServices({ management: fixture.management, place, signal: end.signal, say });
    const ref = { apiVersion: API.zenith, kind: "Reservation" };
    const annotations = {
      "meta.helm.sh/release-name": "cni-calico",
      "meta.helm.sh/release-namespace": RELEASE_NAMESPACE,
    };
    const metadata = { name: "dashboard", namespace: RELEASE_NAMESPACE, annotations };
    try {
      await fixture.management.apply({ ...ref, metadata, spec: {} });
      await untilTrue("the service", async () => (await zenithServices()).includes(SERVICE));
      await untilTrue("its annotation", async () =>
        Boolean((await calico())?.metadata.annotations?.[SERVICES_ANNOTATION]?.includes("dashboard")),
      );
      await fixture.management.delete({ ...ref, namespace: RELEASE_NAMESPACE, name: "dashboard" });
      await untilTrue("the service to go", async () => !(await zenithServices()).includes(SERVICE));
      await untilTrue("its annotation to go", async () => {
        const { annotations: noted = {} } = (await calico())?.metadata ?? {};
        return noted[SERVICES_ANNOTATION] === undefined;
      });
    } finally {
      end.abort();
      await running;
    }
    return said;
  };
  const expectUnchanged = async () => assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);

  it("comes up from its file, adds and removes services, and is destroyed", async () => {
    configureExample();
    await fixture.stack.up();
    const burst = await get(API.clusterApi, "MachineDeployment", "demo-burst");
    assert.ok(burst, "the group that scales by itself");
    // Grafana's own service has come meanwhile
    await fixture.stack.up();
    await expectUnchanged();
    const said = await serve(true);
    assert.ok(said.some((line) => line.includes(`status: service ${SERVICE}`)));
    await expectUnchanged();
    await fixture.stack.destroy();
    assert.equal(await get(API.clusterApi, "Cluster", "demo"), undefined);
    assert.equal(await get(API.azimuth, "Cluster", "demo"), undefined);
    const lease = await get(API.scheduling, "Lease", "demo");
    assert.ok(lease, "the Lease is not this stack's to delete");
    assert.ok(!lease.metadata.finalizers?.includes(LEASE_FINALIZER));
  });

  it("does the same without a record, owned by a ConfigMap, while others keep changing its objects", async () => {
    const stormy = ["OIDCClient", "Platform"];
    for (const kind of stormy) fixture.controllers.faults.set(kind, { changedEvery: 20 });
    configureExample({ record: false, leaseName: undefined });
    await fixture.stack.up();
    fixture.controllers.faults.clear();
    assert.equal(await get(API.azimuth, "Cluster", "demo"), undefined);
    const uid = (await get("v1", "ConfigMap", "demo-foresail"))?.metadata.uid;
    assert.ok(uid);
    const owned = [
      [API.identity, "OIDCClient", "kube-demo"],
      [API.identity, "Platform", "kube-demo"],
      ["v1", "Secret", "demo-zenith-apiserver"],
    ] as const;
    for (const [apiVersion, kind, name] of owned)
      assert.deepEqual(
        (await get(apiVersion, kind, name))?.metadata.ownerReferences?.map((owner) => owner.uid),
        [uid],
        kind,
      );
    await fixture.stack.up();
    await expectUnchanged();
    await serve(false);
    await expectUnchanged();
    for (const kind of stormy) fixture.controllers.faults.set(kind, { changedEvery: 20 });
    await fixture.stack.destroy();
    fixture.controllers.faults.clear();
    assert.equal(await get("v1", "ConfigMap", "demo-foresail"), undefined);
    assert.equal(await get(API.identity, "Platform", "kube-demo"), undefined);
  });
});
