import {
  type Addon,
  type AnnotationChange,
  annotationChanges,
  type ServicePlan,
  statusServices,
  zenithServices,
} from "./services";

type Entries = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

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
  const services: Entries = plan ? statusServices(plan.services) : (seen.status ?? seen.platform ?? {});
  const status = plan && seen.status ? mapPatch(seen.status, services) : undefined;
  const platform = seen.platform ? mapPatch(seen.platform, zenithServices(services)) : undefined;
  const annotations = plan ? annotationChanges(plan, seen.addons) : [];
  return {
    ...(status ? { status } : {}),
    ...(platform ? { platform } : {}),
    annotations,
    lines: [
      ...(status ? linesOf("status", status) : []),
      ...(platform ? linesOf("Platform", platform) : []),
      ...annotations.map(({ kind, name, text }) =>
        text === undefined
          ? `${kind} ${name}: has no services any more`
          : `${kind} ${name}: note its services (${Object.keys(JSON.parse(text) as object).join(", ")})`,
      ),
    ],
  };
}

function linesOf(where: string, patch: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(patch).map(([name, entry]) =>
    entry === null
      ? `${where}: service ${name} goes`
      : `${where}: service ${name} ${fqdnOf(entry)}`.trimEnd(),
  );
}

const fqdnOf = (entry: unknown): string => {
  const { fqdn } = entry as { fqdn?: unknown };
  return typeof fqdn === "string" ? `→ ${fqdn}` : "";
};

/** Returns the patch that turns one map of entries into another; undefined when they are equal. */
function mapPatch(have: Entries, want: Entries): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  for (const name of [...new Set([...Object.keys(have), ...Object.keys(want)])].sort()) {
    const wanted = Object.hasOwn(want, name) ? want[name] : undefined;
    const entry = wanted ? entryPatch(Object.hasOwn(have, name) ? have[name] : undefined, wanted) : null;
    if (entry !== undefined) patch[name] = entry;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

function entryPatch(
  have: Readonly<Record<string, unknown>> | undefined,
  want: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  if (!have) return { ...want };
  const fields = [...new Set([...Object.keys(have), ...Object.keys(want)])].filter(
    (field) => (have[field] ?? null) !== (want[field] ?? null),
  );
  if (fields.length === 0) return undefined;
  // the whole entry, so that the message can contain its address
  return { ...want, ...Object.fromEntries(fields.map((field) => [field, want[field] ?? null])) };
}
