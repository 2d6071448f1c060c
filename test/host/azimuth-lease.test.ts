import assert from "node:assert/strict";
import { KubernetesClient, KubernetesError, type NewObject } from "../../lib/kubernetes";
import { API, LEASE_FINALIZER } from "../../providers/azimuth/plan/names";
import { runSchedule } from "../../sandbox/azimuth/controllers/schedule";
import { AZIMUTH_DEFINITIONS } from "../../sandbox/azimuth/definitions";
import { Faults } from "../../sandbox/azimuth/faults";
import { installDefinitions } from "../../sandbox/management/definitions";
import { untilTrue } from "../engine/azimuth-fixture";
import { SET_UP_MILLISECONDS } from "../engine/simulated-fixture";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";
import { ProviderHost } from "./provider-host";

const ADOPTION = "kubernetes/Adoption";
const CHECK_MILLISECONDS = 1500;
const SCHEDULER_FINALIZER = "scheduling.azimuth.stackhpc.com";
const namespace = "az-demo";
const YEAR_2099 = "2099-12-31T00:00:00Z";

interface Live {
  metadata: {
    uid: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    annotations?: Record<string, string>;
  };
  status?: { phase?: string; sizeMap?: object; sizeNameMap?: Record<string, string> };
}

const named = (apiVersion: string, kind: string, name: string, rest: object): NewObject => ({
  apiVersion,
  kind,
  metadata: { name, ...(kind.endsWith("Template") ? {} : { namespace }) },
  ...rest,
});
const clusterSpec = (over: object = {}) => ({
  label: "demo",
  templateName: "t",
  cloudCredentialsSecretName: "c",
  controlPlaneMachineSize: "s",
  ...over,
});
const template = (values: object) =>
  named(API.azimuth, "ClusterTemplate", "t", { spec: { label: "t", description: "t", values } });
const realm = (rest: object) => named(API.identity, "Realm", "r", rest);
const oidcClient = (over: object) =>
  named(API.identity, "OIDCClient", "o", { spec: { realmName: "r", ...over } });
const platform = (spec: object) => named(API.identity, "Platform", "p", { spec });
const lease = (over: object, name = "l") =>
  named(API.scheduling, "Lease", name, {
    spec: { cloudCredentialsSecretName: "c", resources: {}, ...over },
  });
const machines = (...ids: string[]) => ({
  resources: { machines: ids.map((sizeId) => ({ sizeId, count: 1 })) },
});

describe("the kinds and the Leases of Azimuth, simulated on a real API server", function () {
  this.timeout(60_000);
  let api: BareApiServer;
  let client: KubernetesClient;
  let host: ProviderHost;
  const end = new AbortController();
  let running: Promise<void> | undefined;

  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    const { etcd, kubeApiserver } = await simulationPrograms();
    api = await new BareApiServer({ programs: { etcd, kubeApiserver } }).start();
    client = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
    await installDefinitions(client, AZIMUTH_DEFINITIONS);
    await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    host = await ProviderHost.inClone();
  });
  after(async () => {
    end.abort();
    await running?.catch(() => undefined);
    await host?.stop();
    client?.close();
    await api?.stop();
  });

  const refOf = ({ apiVersion, kind, metadata }: NewObject) => ({ apiVersion, kind, ...metadata });
  const get = (object: NewObject) => client.get<Live>(refOf(object));
  const namesOf = async (object: NewObject) => (await get(object))?.status?.sizeNameMap;
  const untilPhase = (object: NewObject, phase: string) =>
    untilTrue(`the phase ${phase}`, async () => (await get(object))?.status?.phase === phase);

  describe("the definitions", () => {
    const values = { kubernetesVersion: "1.36.3", machineImageId: "3c9e-img" };
    const service = (subdomain: string) => ({ subdomain, fqdn: "a.example.com" });
    const refused: [string, NewObject, RegExp][] = [
      ["a template without an image", template({ kubernetesVersion: "1.36.3" }), /machineImageId: Required/],
      ["a template with no version", template({ ...values, kubernetesVersion: "" }), /kubernetesVersion/],
      ["a Realm with an empty tenancy", realm({ spec: { tenancyId: "" } }), /tenancyId/],
      ["an empty client id", oidcClient({ clientId: "" }), /clientId/],
      ["an empty Secret's name", oidcClient({ credentialsSecretName: "" }), /credentialsSecretName/],
      ["a redirect that is no URI", oidcClient({ redirectUris: ["no uri"] }), /redirectUris/],
      ["a Platform without one fitting letter", platform({ realmName: "_" }), /realmName/],
      [
        "an empty lease's name",
        named(API.azimuth, "Cluster", "c", { spec: clusterSpec({ leaseName: "" }) }),
        /leaseName/,
      ],
      [
        "a volume of no size",
        named(API.azimuth, "Cluster", "c", {
          spec: clusterSpec({ addons: { monitoringLokiVolumeSize: 0 } }),
        }),
        /monitoringLokiVolumeSize/,
      ],
      ["no machine", lease({ resources: { machines: [{ sizeId: "a", count: 0 }] } }), /count/],
      [
        "an app template of a chart without a repository",
        named(API.azimuth, "AppTemplate", "a", { spec: { chart: { name: "a" } } }),
        /repo: Required/,
      ],
      [
        "a schedule without a time",
        named(API.scheduling, "Schedule", "s", {
          spec: { ref: { apiVersion: "v1", kind: "Pod", name: "p" } },
        }),
        /notAfter: Required/,
      ],
    ];
    for (const [what, object, words] of refused)
      it(`refuse ${what}`, async () => {
        await assert.rejects(client.create(object), (error) => {
          assert.ok(error instanceof KubernetesError, String(error));
          assert.equal(error.reason, "Invalid");
          assert.match(error.message, words);
          return true;
        });
      });

    const accepted: [string, NewObject][] = [
      ["a template with values of its own", template({ ...values, anything: { at: "all" } })],
      ["a Realm without a spec", realm({})],
      ["an OIDCClient without a spec", named(API.identity, "OIDCClient", "bare", {})],
      [
        "names of a Platform by one fitting letter, and other services",
        platform({ realmName: "My Realm", zenithServices: { one: service("A b") } }),
      ],
      [
        "an app template",
        named(API.azimuth, "AppTemplate", "a", {
          spec: { chart: { name: "a", repo: "https://r.example.com" } },
        }),
      ],
    ];
    for (const [what, object] of accepted)
      it(`accept ${what}`, async () => {
        await client.create(object);
        await client.delete(refOf(object));
      });

    it("know the values of a status, and keep its other fields", async () => {
      const object = realm({});
      await client.create(object);
      const status = (value: object) =>
        client.mergePatch(refOf(object), { status: value }, { subresource: "status" });
      await assert.rejects(status({ phase: "Updating" }), /Unsupported value: "Updating"/);
      await status({ phase: "Ready", more: "kept" });
      assert.deepEqual((await get(object))?.status, { phase: "Ready", more: "kept" });
      await client.delete(refOf(object));
    });

    it("belong to a category, and print the familiar columns", async () => {
      interface Definition {
        spec: {
          names: { categories?: string[] };
          versions: { additionalPrinterColumns?: { name: string }[] }[];
        };
      }
      const [apiVersion, kind] = ["apiextensions.k8s.io/v1", "CustomResourceDefinition"];
      for (const { metadata } of AZIMUTH_DEFINITIONS) {
        const live = await client.get<Definition>({ apiVersion, kind, name: metadata.name });
        assert.deepEqual(live?.spec.names.categories, ["azimuth"], metadata.name);
        const columns = live.spec.versions[0]?.additionalPrinterColumns?.map(({ name }) => name) ?? [];
        assert.equal(columns.at(-1), "Age", metadata.name);
        if (metadata.name.startsWith("leases."))
          assert.deepEqual(columns, ["Starts At", "Ends At", "phase", "Age"]);
      }
    });
  });

  describe("a Lease", () => {
    before(() => {
      const around = { client, faults: new Faults(), signal: end.signal, say: () => undefined };
      running = runSchedule(around, CHECK_MILLISECONDS);
    });

    it("without an end maps the names of its flavors to themselves, and leaves out unknown ones", async () => {
      const endless = lease(machines("f-small", "f-none"), "endless");
      await client.create(endless);
      await untilPhase(endless, "Active");
      assert.deepEqual((await get(endless))?.status?.sizeMap, { "f-small": "f-small", "f-none": "f-none" });
      assert.deepEqual(await namesOf(endless), { "vm.small": "vm.small" });
    });

    it("with an end gets its own flavors", async () => {
      const reserved = lease({ ...machines("f-small"), endsAt: YEAR_2099 }, "reserved");
      await client.create(reserved);
      await untilPhase(reserved, "Active");
      const { "vm.small": name = "", ...others } = (await namesOf(reserved)) ?? {};
      assert.match(name, /^reservation:[0-9a-f-]{36}$/);
      assert.deepEqual(others, {});
    });

    it("whose end was changed is not reconciled before the timer fires", async () => {
      const owner = named("v1", "ConfigMap", "owner", {});
      const { metadata } = await client.create<Live>(owner);
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid }];
      const changed = lease({ ...machines("f-small"), endsAt: YEAR_2099 }, "changed");
      await client.create({ ...changed, metadata: { ...changed.metadata, ownerReferences } });
      await untilPhase(changed, "Active");
      const at = Date.now();
      await client.mergePatch(refOf(changed), { spec: { endsAt: new Date().toISOString(), gracePeriod: 0 } });
      await untilTrue("the owner to be deleted", async () => {
        const live = await get(owner);
        return live?.metadata.deletionTimestamp !== undefined || live === undefined;
      });
      assert.ok(Date.now() - at >= CHECK_MILLISECONDS, `after ${Date.now() - at} ms`);
    });
  });

  describe("a release by this program", () => {
    const FINALIZERS = [SCHEDULER_FINALIZER, LEASE_FINALIZER];
    /** The Lease as azimuth-capi-operator leaves it: its finalizer is added by a patch, with its own field manager. */
    const handOver = async (name: string) => {
      const object = lease(
        { ...machines("f-small"), cloudCredentialsSecretName: `${name}-credentials` },
        name,
      );
      await client.create({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: `${name}-credentials`, namespace },
      });
      await client.create(object);
      await untilPhase(object, "Active");
      await client.mergePatch(refOf(object), { metadata: { finalizers: FINALIZERS } });
      return object;
    };
    const adoption = ({ apiVersion, kind, metadata }: NewObject, over: object = {}) => ({
      kubeconfig: api.kubeconfig(),
      stack: "foresail/test",
      timeoutSeconds: 5,
      object: { apiVersion, kind, metadata },
      mustExist: true,
      finalizers: [LEASE_FINALIZER],
      ...over,
    });

    it("removes a finalizer that another manager wrote, so that the Lease can go", async () => {
      const object = await handOver("handed-over");
      const { outputs } = await host.create(ADOPTION, adoption(object));
      assert.equal(outputs["made"], false);
      assert.deepEqual((await get(object))?.metadata.finalizers, FINALIZERS);
      await host.delete(ADOPTION, outputs);
      assert.deepEqual((await get(object))?.metadata.finalizers, [SCHEDULER_FINALIZER]);
      await client.delete(refOf(object));
      await untilTrue("the Lease to go", async () => (await get(object)) === undefined);
      const credentials = named("v1", "Secret", "handed-over-credentials", {});
      assert.equal(await get(credentials), undefined, "the credentials go with the Lease");
    });

    it("removes it from a Lease that is already being deleted, too", async () => {
      const object = await handOver("ending");
      const { outputs } = await host.create(ADOPTION, adoption(object));
      await client.delete(refOf(object));
      assert.ok((await get(object))?.metadata.deletionTimestamp);
      await host.delete(ADOPTION, outputs);
      await untilTrue("the Lease to go", async () => (await get(object)) === undefined);
    });

    it("does not touch a Lease that another stack has taken over since", async () => {
      const object = await handOver("taken");
      const { outputs } = await host.create(ADOPTION, adoption(object));
      await host.create(ADOPTION, adoption(object, { stack: "foresail/other", takeOver: "unmarked" }));
      await host.delete(ADOPTION, outputs);
      const { metadata } = (await get(object))!;
      assert.equal(metadata.annotations?.["foresail/adopted-by"], "foresail/other");
      assert.deepEqual(metadata.finalizers, FINALIZERS);
    });
  });
});
