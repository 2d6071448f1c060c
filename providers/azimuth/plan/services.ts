import {
  ADDON_CLUSTER_LABEL,
  CLUSTER_LABEL,
  RELEASE_NAME_LABEL,
  RELEASE_NAMESPACE_LABEL,
  SERVICES_ANNOTATION,
} from "./names";

/** A service of a cluster, as `status.services` of an Azimuth Cluster has it. */
interface ServiceEntry {
  subdomain: string;
  fqdn: string;
  label: string;
  iconUrl: string | null;
  description: string | null;
}
export type Services = Readonly<Record<string, ServiceEntry>>;

/** What is read of a Reservation in the cluster (group zenith.stackhpc.com). */
export interface Reservation {
  metadata?: { name?: string; namespace?: string; annotations?: Record<string, string> };
  status?: { phase?: string; subdomain?: string; fqdn?: string };
}

/** What is read of a HelmRelease or Manifests on the management cluster. */
export interface Addon {
  kind?: string;
  metadata?: {
    name?: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

/** The addon that a service came with, by what the addon's objects are annotated with. */
export interface ReleaseRef {
  name: string;
  namespace: string;
}

const RELEASE_NAME = "meta.helm.sh/release-name";
const RELEASE_NAMESPACE = "meta.helm.sh/release-namespace";
const OWN = "azimuth.stackhpc.com/service-";

/** A service's name: that of the Reservation, after its namespace unless it begins with it already. */
export function serviceName(namespace: string, name: string): string {
  return name.startsWith(namespace) ? name : `${namespace}-${name}`;
}

/** "kube-prometheus-stack-client" → "Kube Prometheus Stack Client". */
export function titleOf(name: string): string {
  return name
    .split("-")
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

/** What a Reservation says of its service; undefined while it is not ready or belongs to no addon. */
export function serviceOf(
  reservation: Reservation,
): { name: string; entry: ServiceEntry; release: ReleaseRef } | undefined {
  const { name = "", namespace = "", annotations = {} } = reservation.metadata ?? {};
  const { phase, subdomain, fqdn } = reservation.status ?? {};
  const release = annotations[RELEASE_NAME];
  const releaseNamespace = annotations[RELEASE_NAMESPACE];
  if (phase !== "Ready" || !subdomain || !fqdn || !release || !releaseNamespace) return undefined;
  return {
    name: serviceName(namespace, name),
    entry: {
      subdomain,
      fqdn,
      label: annotations[`${OWN}label`] ?? titleOf(name),
      iconUrl: annotations[`${OWN}icon-url`] ?? null,
      description: annotations[`${OWN}description`] ?? null,
    },
    release: { name: release, namespace: releaseNamespace },
  };
}

/** The addon of a release: a HelmRelease before Manifests of the same release. */
function addonOf(cluster: string, release: ReleaseRef, addons: readonly Addon[]): Addon | undefined {
  const its = addons.filter(({ metadata: { labels = {} } = {} }) => {
    return (
      labels[ADDON_CLUSTER_LABEL] === cluster &&
      labels[RELEASE_NAME_LABEL] === release.name &&
      labels[RELEASE_NAMESPACE_LABEL] === release.namespace
    );
  });
  return its.find(({ kind }) => kind === "HelmRelease") ?? its[0];
}

/** Which services a cluster has, and at which addon each is to be noted. */
export interface ServicePlan {
  /** For `status.services` and the Platform: those of the cluster's own addons; apps that users added are not among them. */
  services: Services;
  /** "<kind>/<name>" of every addon that has services → its services. */
  byAddon: Readonly<Record<string, Services>>;
}

/** How `ServicePlan.byAddon` names an addon. */
function addonKey({ kind = "", metadata }: Addon): string {
  return `${kind}/${metadata?.name ?? ""}`;
}

/** What the Reservations of a cluster mean for its services. A Reservation without an addon is no service. */
export function planServices(
  cluster: string,
  reservations: readonly Reservation[],
  addons: readonly Addon[],
): ServicePlan {
  const services: Record<string, ServiceEntry> = {};
  const byAddon: Record<string, Record<string, ServiceEntry>> = {};
  for (const reservation of reservations) {
    const found = serviceOf(reservation);
    const addon = found && addonOf(cluster, found.release, addons);
    if (!found || !addon) continue;
    (byAddon[addonKey(addon)] ??= {})[found.name] = found.entry;
    if (addon.metadata?.labels?.[CLUSTER_LABEL] !== undefined) services[found.name] = found.entry;
  }
  return {
    services: sorted(services),
    byAddon: sorted(
      Object.fromEntries(Object.entries(byAddon).map(([key, entries]) => [key, sorted(entries)])),
    ),
  };
}

function sorted<Value>(map: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The annotation's text: nulls stay, the names are in order. */
export function annotationText(services: Services): string {
  const entries = Object.entries(sorted(services)).map(
    ([name, { subdomain, fqdn, label, iconUrl, description }]) => [
      name,
      { subdomain, fqdn, label, iconUrl, description },
    ],
  );
  return JSON.stringify(Object.fromEntries(entries));
}

/** One addon whose annotation has to be written; `text` is undefined where it has to go. */
export interface AnnotationChange {
  kind: string;
  name: string;
  text: string | undefined;
}

/** Which annotations differ from the plan. An addon without services keeps no annotation. */
export function annotationChanges(plan: ServicePlan, addons: readonly Addon[]): AnnotationChange[] {
  return addons.flatMap((addon) => {
    const { kind = "", metadata: { name = "", annotations = {} } = {} } = addon;
    const have = annotations[SERVICES_ANNOTATION];
    const services = plan.byAddon[addonKey(addon)];
    const text = services && annotationText(services);
    return isSameText(have, text) ? [] : [{ kind, name, text }];
  });
}

/** The same services in another order are the same. */
function isSameText(have: string | undefined, want: string | undefined): boolean {
  if (have === want) return true;
  if (have === undefined || want === undefined) return have === "{}" || want === "{}";
  try {
    return annotationText(JSON.parse(have) as Services) === want;
  } catch {
    return false;
  }
}

/** `status.services` leaves out what is null. */
export function statusServices(services: Services): Record<string, Partial<ServiceEntry>> {
  return Object.fromEntries(
    Object.entries(services).map(([name, { subdomain, fqdn, label, iconUrl, description }]) => [
      name,
      {
        subdomain,
        fqdn,
        label,
        ...(iconUrl === null ? {} : { iconUrl }),
        ...(description === null ? {} : { description }),
      },
    ]),
  );
}

/** `spec.zenithServices` of the cluster's Platform. */
export function zenithServices(
  services: Readonly<Record<string, Partial<ServiceEntry>>>,
): Record<string, { subdomain: string; fqdn: string }> {
  return Object.fromEntries(
    Object.entries(services).map(([name, { subdomain = "", fqdn = "" }]) => [name, { subdomain, fqdn }]),
  );
}
