import {
  addonEntry,
  controlPlanePhase,
  kubernetesVersion,
  nodeEntry,
  type AddonObject,
  type ControlPlane,
  type Machine,
  type ClusterStatus,
  type NodeEntry,
  phaseAt,
} from "./status";
import { COMPONENT_LABEL } from "./names";

/** The objects of one cluster on the management cluster. */
export interface ClusterObjects {
  machines: readonly Machine[];
  addons: readonly AddonObject[];
  controlPlane?: ControlPlane;
  /** `status.phase` of the Cluster API's Cluster; undefined when there is none. */
  networkingPhase?: string;
  /** `status.phase` of the Lease; undefined when the cluster has none. */
  leasePhase?: string;
}

/** A merge patch of a status: null removes a field. */
type StatusPatch = Record<string, unknown>;

/** Fields of a status with a string or a number. */
type PlainField = Exclude<keyof ClusterStatus, "nodes" | "addons" | "services">;

/** The differences between a cluster's record and its objects. */
export interface RecordChange {
  patch: StatusPatch;
  /** One message line for each change. */
  lines: string[];
  /** whether the record contains something that no longer exists; new entries alone wait for the next due write */
  isDue: boolean;
}

/**
 * Compares the record of a cluster with its objects: removes entries of nodes and addons that no longer exist, adds
 * missing ones, and updates phases and versions. Does not change services.
 *
 * @param now in milliseconds since 1970
 * @returns undefined when nothing has to be written
 */
export function recordChange(
  status: ClusterStatus,
  objects: ClusterObjects,
  options: { leased: boolean; now: number },
): RecordChange | undefined {
  const patch: StatusPatch = {};
  const lines: string[] = [];
  const take = (field: PlainField, want: string | number | undefined): void => {
    if (status[field] === want) return;
    patch[field] = want ?? null;
    lines.push(`${field}: ${String(status[field] ?? "none")} → ${String(want ?? "none")}`);
  };
  const nodes = Object.fromEntries(
    objects.machines.map((machine) => [
      machine.metadata?.name ?? "",
      nodeEntry(machine, status.nodes?.[machine.metadata?.name ?? ""]?.size),
    ]),
  );
  const addons = Object.fromEntries(
    objects.addons.flatMap((addon) => {
      const component = addon.metadata?.labels?.[COMPONENT_LABEL];
      return component === undefined ? [] : [[component, addonEntry(addon)]];
    }),
  );
  takeEntries("node", "nodes", status.nodes, nodes, patch, lines);
  takeEntries("addon", "addons", status.addons, addons, patch, lines);
  take("nodeCount", countOf(nodes));
  take("addonCount", countOf(addons));
  take("networkingPhase", objects.networkingPhase);
  take("controlPlanePhase", objects.controlPlane && controlPlanePhase(objects.controlPlane));
  take("kubernetesVersion", objects.controlPlane && kubernetesVersion(objects.controlPlane));
  take("leasePhase", options.leased ? objects.leasePhase : undefined);
  const next = phaseAt(
    {
      ...phasesOf(objects, options.leased),
      nodes,
      addons,
      ...(status.lastUpdated === undefined ? {} : { lastUpdated: status.lastUpdated }),
    },
    options.leased,
    options.now,
  );
  take("phase", next.phase === "Unknown" ? undefined : next.phase);
  // a timestamp alone is not a change: the run's own stamps write it
  return lines.length === 0 ? undefined : { patch, lines, isDue: hasGone(status, objects, nodes, addons) };
}

/** Returns whether the record contains something that no longer exists. */
function hasGone(status: ClusterStatus, objects: ClusterObjects, nodes: object, addons: object): boolean {
  const isThere = (map: object) => (name: string) => Object.hasOwn(map, name);
  return (
    !Object.keys(status.nodes ?? {}).every(isThere(nodes)) ||
    !Object.keys(status.addons ?? {}).every(isThere(addons)) ||
    (status.networkingPhase !== undefined && objects.networkingPhase === undefined) ||
    (status.controlPlanePhase !== undefined && objects.controlPlane === undefined)
  );
}

const countOf = (entries: object): number | undefined => Object.keys(entries).length || undefined;

function phasesOf({ networkingPhase, controlPlane, leasePhase }: ClusterObjects, leased: boolean) {
  return {
    ...(networkingPhase === undefined ? {} : { networkingPhase }),
    ...(controlPlane === undefined ? {} : { controlPlanePhase: controlPlanePhase(controlPlane) }),
    ...(leased && leasePhase !== undefined ? { leasePhase } : {}),
  };
}

function takeEntries(
  what: string,
  field: "nodes" | "addons",
  have: Readonly<Record<string, object>> = {},
  want: Readonly<Record<string, object>>,
  patch: StatusPatch,
  lines: string[],
): void {
  const entries: Record<string, unknown> = {};
  for (const name of Object.keys(have).sort()) {
    if (Object.hasOwn(want, name)) continue;
    entries[name] = null;
    lines.push(`${what} ${name}: is gone, taken out of the record`);
  }
  for (const [name, entry] of Object.entries(want).sort(([one], [other]) => (one < other ? -1 : 1))) {
    const before = have[name];
    if (before && isSame(before, entry)) continue;
    entries[name] = before ? withRemovals(before, entry) : entry;
    lines.push(`${what} ${name}: ${(entry as Partial<NodeEntry>).phase ?? "Unknown"}`);
  }
  if (Object.keys(entries).length > 0) patch[field] = entries;
}

const isSame = (one: object, other: object): boolean =>
  JSON.stringify(inOrder(one)) === JSON.stringify(inOrder(other));

const inOrder = (object: object): unknown[] =>
  Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1));

/** Adds nulls for removed fields, because a merge patch keeps what it does not name. */
function withRemovals(before: object, after: object): object {
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return { ...after, ...Object.fromEntries(gone.map((key) => [key, null])) };
}
