import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../../../lib/json";
import { type Entries, entriesPatch } from "./entries-patch";
import {
  ADDON_CLUSTER_LABEL,
  CLUSTER_LABEL,
  RELEASE_NAME_LABEL,
  RELEASE_NAMESPACE_LABEL,
  SERVICES_ANNOTATION,
} from "./names";

/** A service of a cluster, as in `status.services` of an Azimuth Cluster. */
interface ServiceEntry {
  subdomain: string;
  fqdn: string;
  label: string;
  iconUrl: string | null;
  description: string | null;
}
type Services = Readonly<Record<string, ServiceEntry>>;

/** The fields read from a Reservation in the cluster (group zenith.stackhpc.com). */
export interface Reservation {
  metadata?: { name?: string; namespace?: string; annotations?: Record<string, string> };
  status?: { phase?: string; subdomain?: string; fqdn?: string };
}

/** The fields read from a HelmRelease or Manifests on the management cluster. */
export interface Addon {
  kind?: string;
  metadata?: {
    name?: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

/** The addon of a service, from the annotations of the addon's objects. */
interface ReleaseRef {
  name: string;
  namespace: string;
}

const RELEASE_NAME = "meta.helm.sh/release-name";
const RELEASE_NAMESPACE = "meta.helm.sh/release-namespace";
const OWN = "azimuth.stackhpc.com/service-";

/** Returns a service's name: the Reservation's name, prefixed with its namespace unless it already begins with it. */
export function serviceName(namespace: string, name: string): string {
  return name.startsWith(namespace) ? name : `${namespace}-${name}`;
}

/** Returns a name as a title: "kube-prometheus-stack-client" → "Kube Prometheus Stack Client". */
export function titleOf(name: string): string {
  return name
    .split("-")
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

/** Returns an address that a browser may load as an image, or null. */
function webAddress(text = ""): string | null {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : null;
}

/** Returns the service of a Reservation; undefined while it is not ready, has no valid name or belongs to no addon. */
export function serviceOf(
  reservation: Reservation,
): { name: string; entry: ServiceEntry; release: ReleaseRef } | undefined {
  const { name = "", namespace = "", annotations = {} } = reservation.metadata ?? {};
  const { phase, subdomain = "", fqdn = "" } = reservation.status ?? {};
  const release = annotations[RELEASE_NAME];
  const releaseNamespace = annotations[RELEASE_NAMESPACE];
  if (phase !== "Ready" || !release || !releaseNamespace) return undefined;
  // the cluster's users can write it, and one invalid name would have the API refuse the services of the whole Platform
  if (!/^[a-z0-9]+$/.test(subdomain) || !/^[a-z0-9.-]+$/.test(fqdn)) return undefined;
  return {
    name: serviceName(namespace, name),
    entry: {
      subdomain,
      fqdn,
      label: annotations[`${OWN}label`] ?? titleOf(name),
      iconUrl: webAddress(annotations[`${OWN}icon-url`]),
      description: annotations[`${OWN}description`] ?? null,
    },
    release: { name: release, namespace: releaseNamespace },
  };
}

/** Returns the addon of a release; prefers a HelmRelease over Manifests of the same release. */
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

/** The services of a cluster, and the addon to annotate with each. */
interface ServicePlan {
  /**
   * For `status.services` and the Platform: only services of the cluster's own addons, not of apps that users added.
   */
  services: Services;
  /** "<kind>/<name>" of every addon with services → its services. */
  byAddon: Readonly<Record<string, Services>>;
}

/** Returns an addon's key in `ServicePlan.byAddon`. */
function addonKey({ kind = "", metadata }: Addon): string {
  return `${kind}/${metadata?.name ?? ""}`;
}

/** Returns the services that the Reservations of a cluster define. A Reservation without an addon defines none. */
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
  return { services: sorted(services), byAddon: sorted(mapValues(byAddon, sorted)) };
}

function sorted<Value>(map: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function mapValues<Value, Other>(
  map: Readonly<Record<string, Value>>,
  change: (value: Value) => Other,
): Record<string, Other> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}

/** Returns the annotation's text, with nulls and sorted names. */
export function annotationText(services: Services): string {
  return JSON.stringify(sorted(services));
}

/** An addon's annotation to write; `text` is undefined to remove it. */
interface AnnotationChange {
  kind: string;
  name: string;
  text: string | undefined;
}

/** Returns the annotations that differ from the plan. An addon without services has no annotation. */
function annotationChanges(plan: ServicePlan, addons: readonly Addon[]): AnnotationChange[] {
  return addons.flatMap((addon) => {
    const { kind = "", metadata: { name = "", annotations = {} } = {} } = addon;
    const services = plan.byAddon[addonKey(addon)];
    const have = parseJson(annotations[SERVICES_ANNOTATION] ?? "{}");
    if (isDeepStrictEqual(have, services ?? {})) return [];
    return [{ kind, name, text: services && annotationText(services) }];
  });
}

/** Returns `status.services`, which omits nulls. */
function statusServices(services: Services): Entries {
  return mapValues(services, (entry) =>
    Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null)),
  );
}

/** A cluster's services as recorded on the management cluster. */
export interface ServicesSeen {
  addons: readonly Addon[];
  /** `status.services`; undefined when no record is kept */
  status?: Entries;
  /** `spec.zenithServices`; undefined without a Platform */
  platform?: Entries;
}

/** Merge patches of the maps: null removes an entry or a field. Undefined where nothing has to be written. */
export interface ServicesChange {
  status?: Record<string, unknown>;
  platform?: Record<string, unknown>;
  annotations: AnnotationChange[];
  /** One message line for each write. */
  lines: string[];
}

/**
 * Returns the writes that bring the record, the Platform and the annotations in line with the plan.
 *
 * @param plan undefined when the cluster can't be read: then the record is trusted, and only the Platform may change
 */
export function servicesChange(plan: ServicePlan | undefined, seen: ServicesSeen): ServicesChange {
  const services = plan ? statusServices(plan.services) : (seen.status ?? seen.platform ?? {});
  const status = plan && seen.status && entriesPatch(seen.status, services);
  const named = mapValues(services, ({ subdomain = "", fqdn = "" }: Partial<ServiceEntry>) => {
    return { subdomain, fqdn };
  });
  const platform = seen.platform && entriesPatch(seen.platform, named);
  const annotations = plan ? annotationChanges(plan, seen.addons) : [];
  return {
    status,
    platform,
    annotations,
    lines: [
      ...linesOf("status", status),
      ...linesOf("Platform", platform),
      ...annotations.map(({ kind, name, text }) =>
        text === undefined
          ? `${kind} ${name}: has no services any more`
          : `${kind} ${name}: note its services (${Object.keys(JSON.parse(text) as object).join(", ")})`,
      ),
    ],
  };
}

function linesOf(where: string, patch: Readonly<Record<string, { fqdn?: unknown } | null>> = {}): string[] {
  return Object.entries(patch).map(([name, entry]) => {
    if (entry === null) return `${where}: service ${name} goes`;
    const address = typeof entry.fqdn === "string" ? ` → ${entry.fqdn}` : "";
    return `${where}: service ${name}${address}`;
  });
}
