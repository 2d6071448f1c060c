import {
  addonEntry,
  controlPlanePhase,
  controlPlaneVersion,
  nodeEntry,
  type AddonObject,
  type ControlPlane,
  type ApiMachine,
  type ClusterStatus,
  type NodeEntry,
  phaseAt,
} from "./status";
import { entriesPatch } from "./entries-patch";
import { COMPONENT_LABEL } from "./names";

/** The objects of one cluster on the management cluster. */
export interface ClusterObjects {
  machines: readonly ApiMachine[];
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

interface Options {
  /** whether the cluster has a Lease */
  leased: boolean;
  /** in milliseconds since 1970 */
  now: number;
}

/** Returns the status that follows from a cluster's objects; of the record's own, it keeps sizes and `lastUpdated`. */
export function observedStatus(
  { nodes: known = {}, lastUpdated }: ClusterStatus,
  { machines, addons: addonObjects, controlPlane, networkingPhase, leasePhase }: ClusterObjects,
  { leased, now }: Options,
): ClusterStatus {
  const nodes = Object.fromEntries(
    machines.map((machine) => {
      const { name = "" } = machine.metadata ?? {};
      return [name, nodeEntry(machine, known[name]?.size)];
    }),
  );
  const addons = Object.fromEntries(
    addonObjects.flatMap((addon) => {
      const component = addon.metadata?.labels?.[COMPONENT_LABEL];
      return component === undefined ? [] : [[component, addonEntry(addon)]];
    }),
  );
  const phases = {
    networkingPhase,
    controlPlanePhase: controlPlane && controlPlanePhase(controlPlane),
    leasePhase: leased ? leasePhase : undefined,
  };
  const next = phaseAt({ ...phases, nodes, addons, lastUpdated }, leased, now);
  return {
    nodes,
    addons,
    nodeCount: countOf(nodes),
    addonCount: countOf(addons),
    ...phases,
    kubernetesVersion: controlPlane && controlPlaneVersion(controlPlane),
    phase: next.phase === "Unknown" ? undefined : next.phase,
    lastUpdated: next.lastUpdated,
  };
}

const countOf = (entries: object): number | undefined => Object.keys(entries).length || undefined;

/** Plain fields of the record, in the order of the messages. */
const FIELDS: readonly PlainField[] = [
  "nodeCount",
  "addonCount",
  "networkingPhase",
  "controlPlanePhase",
  "kubernetesVersion",
  "leasePhase",
  "phase",
];

/**
 * Compares the record of a cluster with its objects: removes entries of nodes and addons that no longer exist, adds
 * missing ones, and updates phases and versions. Clears the time when no transition is left. Does not change services.
 *
 * @returns undefined when nothing has to be written
 */
export function recordChange(
  status: ClusterStatus,
  objects: ClusterObjects,
  options: Options,
): RecordChange | undefined {
  const want = observedStatus(status, objects, options);
  const patch: StatusPatch = {};
  const lines: string[] = [];
  let isDue =
    (status.networkingPhase !== undefined && objects.networkingPhase === undefined) ||
    (status.controlPlanePhase !== undefined && objects.controlPlane === undefined);
  for (const [what, field] of [
    ["node", "nodes"],
    ["addon", "addons"],
  ] as const) {
    const changes = entriesPatch(status[field] ?? {}, want[field] ?? {});
    if (changes) patch[field] = changes;
    for (const [name, entry] of Object.entries(changes ?? {})) {
      isDue ||= entry === null;
      const phase = (entry as Partial<NodeEntry> | null)?.phase ?? "Unknown";
      lines.push(`${what} ${name}: ${entry === null ? "is gone, taken out of the record" : phase}`);
    }
  }
  // a new time is written only by the run's own stamps
  for (const field of want.lastUpdated === undefined ? [...FIELDS, "lastUpdated" as const] : FIELDS) {
    if (status[field] === want[field]) continue;
    patch[field] = want[field] ?? null;
    lines.push(`${field}: ${String(status[field] ?? "none")} → ${String(want[field] ?? "none")}`);
  }
  return lines.length === 0 ? undefined : { patch, lines, isDue };
}
