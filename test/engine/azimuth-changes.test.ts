import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { API } from "../../providers/azimuth/plan/names";
import { TENANCY } from "../../sandbox/azimuth/tenancy";
import { azimuthFixture, configure, liveObjects, untilTrue } from "./azimuth-fixture";

const { namespace } = TENANCY;
const OTHER_REALM = "az-partners";

describe("changes of a cluster through Azimuth, under the engine", function () {
  this.timeout(180_000);
  const fixture = azimuthFixture();
  const { get } = liveObjects(fixture);
  const oidcClient = () => get(API.identity, "OIDCClient", "kube-demo");
  const addon = (name: string) => get(API.addons, "HelmRelease", name);
  const expectUnchanged = async () => assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  const addons = (dashboard?: boolean) => ({
    monitoring: false,
    ...(dashboard !== undefined && { dashboard }),
  });

  /** The issuer that the API servers of the cluster get from the chart. */
  const issuerOfChart = async (): Promise<string | undefined> => {
    const controlPlane = await get(API.controlPlane, "KubeadmControlPlane", "demo-control-plane");
    return (controlPlane?.spec["oidc"] as { issuerUrl?: string } | undefined)?.issuerUrl;
  };
  const issuerOfRealm = async (name: string): Promise<unknown> =>
    (await get(API.identity, "Realm", name))?.status?.["oidcIssuerUrl"];

  before(async () => {
    configure(fixture, { addons: addons() });
    await fixture.stack.up();
    await fixture.stack.up();
  });

  it("waits after a change of the Realm for the OIDCClient's status of the new one, and never writes the old issuer", async () => {
    const before = await issuerOfRealm(TENANCY.realm);
    assert.equal(await issuerOfChart(), before);
    const apiVersion = API.identity;
    await fixture.management.create({
      ...{ apiVersion, kind: "Realm", metadata: { name: OTHER_REALM, namespace } },
      spec: { tenancyId: "0a1b2c" },
    });
    await untilTrue("the other Realm", async () => (await issuerOfRealm(OTHER_REALM)) !== undefined);
    // the status of the former Realm stays while the operator has not come to the client
    fixture.controllers.faults.set("OIDCClient", { slow: 86_400 });
    configure(fixture, { addons: addons(), zenithIdentityRealmName: OTHER_REALM });
    let hasEnded = false;
    const changed = fixture.stack.up().finally(() => (hasEnded = true));
    await untilTrue("the OIDCClient of the other Realm", async () =>
      Boolean((await oidcClient())?.spec["realmName"] === OTHER_REALM),
    );
    await pause(3000);
    assert.equal((await oidcClient())?.status?.["issuerUrl"], before, "the status of the former Realm");
    assert.equal(hasEnded, false, "the run went on with the former issuer");
    fixture.controllers.faults.clear();
    await changed;
    assert.notEqual(await issuerOfRealm(OTHER_REALM), before);
    assert.equal(await issuerOfChart(), await issuerOfRealm(OTHER_REALM));
    const { oidc } = (await fixture.stack.outputs()) as { oidc?: { issuerUrl?: string } };
    assert.equal(oidc?.issuerUrl, await issuerOfRealm(OTHER_REALM));
    await expectUnchanged();
  });

  it("installs Headlamp by addons.dashboard, exposes it through Zenith, and takes both away again", async () => {
    assert.equal(await addon("demo-headlamp"), undefined);
    configure(fixture, { addons: addons(true), zenithIdentityRealmName: OTHER_REALM });
    const preview = await fixture.stack.preview();
    const chart = preview.find(({ name }) => name === "demo-chart");
    const values = chart?.inputs["values"] as { addons: { headlamp?: object; custom?: object } } | undefined;
    assert.deepEqual(values?.addons.headlamp, { enabled: true });
    await fixture.stack.up();
    assert.ok(await addon("demo-headlamp"));
    assert.ok(await get(API.addons, "Manifests", "demo-headlamp-client"));
    const record = await get(API.azimuth, "Cluster", "demo");
    assert.equal((record?.spec["addons"] as { dashboard?: boolean }).dashboard, true);
    configure(fixture, { addons: addons(), zenithIdentityRealmName: OTHER_REALM });
    await fixture.stack.up();
    await untilTrue("Headlamp to go", async () => (await addon("demo-headlamp")) === undefined);
    assert.equal(await get(API.addons, "Manifests", "demo-headlamp-client"), undefined);
    await fixture.stack.up();
    await expectUnchanged();
  });
});
