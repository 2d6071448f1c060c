import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Addon,
  annotationText,
  planServices,
  type Reservation,
  serviceName,
  serviceOf,
  titleOf,
  servicesChange,
  type ServicesSeen,
} from "../../../../providers/azimuth/plan/services";

const reservation = (name: string, over: object = {}, annotations: object = {}): Reservation => ({
  metadata: {
    name,
    namespace: "web",
    annotations: {
      "meta.helm.sh/release-name": "site",
      "meta.helm.sh/release-namespace": "web",
      ...annotations,
    },
  },
  status: { phase: "Ready", subdomain: name, fqdn: `${name}.example.com`, ...over },
});
const addon = (
  kind: string,
  name: string,
  labels: object = {},
  annotations?: Record<string, string>,
): Addon => ({
  kind,
  metadata: {
    name,
    labels: {
      "capi.stackhpc.com/cluster": "demo",
      "addons.stackhpc.com/cluster": "demo",
      "addons.stackhpc.com/release-name": "site",
      "addons.stackhpc.com/release-namespace": "web",
      ...labels,
    },
    ...(annotations ? { annotations } : {}),
  },
});
const site = addon("HelmRelease", "demo-site");
const entry = (name: string) => ({
  subdomain: name,
  fqdn: `${name}.example.com`,
  label: titleOf(name),
  iconUrl: null,
  description: null,
});

describe("services of a cluster", () => {
  it("are named after namespace and Reservation, and contain the namespace once", () => {
    assert.equal(serviceName("web", "shop"), "web-shop");
    assert.equal(serviceName("web", "web-shop"), "web-shop");
    assert.equal(serviceName("web", "website"), "website");
  });

  it("have the label from the annotation, or one made from the name", () => {
    assert.equal(titleOf("kube-prometheus-stack-client"), "Kube Prometheus Stack Client");
    const shown = {
      "azimuth.stackhpc.com/service-label": "Shop",
      "azimuth.stackhpc.com/service-icon-url": "https://i",
    };
    assert.deepEqual(serviceOf(reservation("shop", {}, shown))?.entry, {
      ...entry("shop"),
      label: "Shop",
      iconUrl: "https://i",
    });
  });

  for (const url of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//i", "no address"])
    it(`have no icon at ${url}`, () => {
      const found = serviceOf(reservation("shop", {}, { "azimuth.stackhpc.com/service-icon-url": url }));
      assert.equal(found?.entry.iconUrl, null);
    });

  const ignored: [string, Reservation][] = [
    ["is not ready", reservation("shop", { phase: "Pending" })],
    ["has no name yet", reservation("shop", { fqdn: undefined })],
    ["has a name that is not a host", reservation("shop", { fqdn: "shop.example.com/\n::error::x" })],
    ["has a subdomain that the Platform refuses", reservation("shop", { subdomain: "Shop'\u202e" })],
    ["belongs to no release", reservation("shop", {}, { "meta.helm.sh/release-name": undefined })],
    [
      "belongs to a release that is not an addon",
      reservation("shop", {}, { "meta.helm.sh/release-name": "other" }),
    ],
  ];
  for (const [title, found] of ignored)
    it(`leave out a Reservation that ${title}`, () =>
      assert.deepEqual(planServices("demo", [found], [site]), { services: {}, byAddon: {} }));

  it("are recorded on a HelmRelease rather than on Manifests of the same release, and on no other cluster's addon", () => {
    const others = addon("HelmRelease", "other-site", { "addons.stackhpc.com/cluster": "other" });
    const plan = planServices("demo", [reservation("shop")], [others, addon("Manifests", "demo-m"), site]);
    assert.deepEqual(plan.byAddon, { "HelmRelease/demo-site": { "web-shop": entry("shop") } });
    assert.deepEqual(plan.services, { "web-shop": entry("shop") });
  });

  it("of apps that users added are recorded there and nowhere else", () => {
    const app = addon("HelmRelease", "app", { "capi.stackhpc.com/cluster": undefined });
    const plan = planServices("demo", [reservation("shop")], [app]);
    assert.deepEqual(plan.services, {});
    assert.deepEqual(Object.keys(plan.byAddon), ["HelmRelease/app"]);
  });

  it("keep nulls in the annotation", () => {
    assert.equal(
      annotationText({ "web-shop": entry("shop") }),
      '{"web-shop":{"subdomain":"shop","fqdn":"shop.example.com","label":"Shop","iconUrl":null,"description":null}}',
    );
  });
});

describe("what is written about services", () => {
  const plan = planServices("demo", [reservation("shop")], [site]);

  it("is the record, the Platform and the annotation, and nulls remove what is gone", () => {
    const seen: ServicesSeen = {
      addons: [site],
      status: { old: { fqdn: "o" } },
      platform: { old: { fqdn: "o" } },
    };
    const change = servicesChange(plan, seen);
    assert.deepEqual(change.status, {
      old: null,
      "web-shop": { subdomain: "shop", fqdn: "shop.example.com", label: "Shop" },
    });
    assert.deepEqual(change.platform, {
      old: null,
      "web-shop": { subdomain: "shop", fqdn: "shop.example.com" },
    });
    assert.deepEqual(
      change.annotations.map(({ kind, name }) => `${kind}/${name}`),
      ["HelmRelease/demo-site"],
    );
    assert.deepEqual(change.lines, [
      "status: service old goes",
      "status: service web-shop → shop.example.com",
      "Platform: service old goes",
      "Platform: service web-shop → shop.example.com",
      "HelmRelease demo-site: note its services (web-shop)",
    ]);
  });

  it("removes the annotation from an addon without services, and updates that of an unknown addon", () => {
    const noted = addon("HelmRelease", "demo-site", {}, { "azimuth.stackhpc.com/services": "no JSON" });
    const gone = servicesChange({ services: {}, byAddon: {} }, { addons: [noted] });
    assert.deepEqual(gone.annotations, [{ kind: "HelmRelease", name: "demo-site", text: undefined }]);
  });

  it("is only the Platform when the cluster can't be read", () => {
    const change = servicesChange(undefined, {
      addons: [site],
      status: { a: { subdomain: "a", fqdn: "a.b", label: "A" } },
      platform: {},
    });
    assert.deepEqual(change.platform, { a: { subdomain: "a", fqdn: "a.b" } });
    assert.equal(change.status, undefined);
    assert.deepEqual(change.annotations, []);
  });

  it("is nothing once it was written, whatever was there before", () => {
    const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"));
    fc.assert(
      fc.property(names, names, (before, after) => {
        const planned = planServices(
          "demo",
          after.map((name) => reservation(name)),
          [site],
        );
        const old = planServices(
          "demo",
          before.map((name) => reservation(name)),
          [site],
        );
        const seen: ServicesSeen = {
          addons: [site],
          status: old.services,
          platform: {},
        };
        const change = servicesChange(planned, seen);
        const written: ServicesSeen = {
          addons: change.annotations.reduce(
            (addons, { text }) => [
              addon("HelmRelease", "demo-site", {}, text ? { "azimuth.stackhpc.com/services": text } : {}),
              ...addons.slice(1),
            ],
            [...seen.addons],
          ),
          status: apply(seen.status!, change.status),
          platform: apply(seen.platform!, change.platform),
        };
        assert.deepEqual(servicesChange(planned, written).lines, []);
      }),
    );
  });
});

/** A merge patch, as the API server does it, two levels deep. */
function apply(map: NonNullable<ServicesSeen["status"]>, patch: Record<string, unknown> = {}) {
  const merged: Record<string, object> = { ...map };
  for (const [name, fields] of Object.entries(patch)) {
    if (fields === null) delete merged[name];
    else {
      const both = Object.entries({ ...merged[name], ...(fields as object) });
      merged[name] = Object.fromEntries(both.filter(([, value]) => value !== null));
    }
  }
  return merged;
}
