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
import { type Entries, entriesPatch } from "./entries-patch";
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
  let isDue =
    (status.networkingPhase !== undefined && objects.networkingPhase === undefined) ||
    (status.controlPlanePhase !== undefined && objects.controlPlane === undefined);
  const takeEntries = (what: string, field: "nodes" | "addons", want: Entries): void => {
    const changes = entriesPatch(status[field] ?? {}, want);
    if (changes) patch[field] = changes;
    for (const [name, entry] of Object.entries(changes ?? {})) {
      isDue ||= entry === null;
      const phase = (entry as Partial<NodeEntry> | null)?.phase ?? "Unknown";
      lines.push(`${what} ${name}: ${entry === null ? "is gone, taken out of the record" : phase}`);
    }
  };
  takeEntries("node", "nodes", nodes);
  takeEntries("addon", "addons", addons);
  take("nodeCount", countOf(nodes));
  take("addonCount", countOf(addons));
  const phases = {
    networkingPhase: objects.networkingPhase,
    controlPlanePhase: objects.controlPlane && controlPlanePhase(objects.controlPlane),
    leasePhase: options.leased ? objects.leasePhase : undefined,
  };
  take("networkingPhase", phases.networkingPhase);
  take("controlPlanePhase", phases.controlPlanePhase);
  take("kubernetesVersion", objects.controlPlane && kubernetesVersion(objects.controlPlane));
  take("leasePhase", phases.leasePhase);
  const { lastUpdated } = status;
  const next = phaseAt({ ...phases, nodes, addons, lastUpdated }, options.leased, options.now);
  take("phase", next.phase === "Unknown" ? undefined : next.phase);
  // a timestamp alone is not a change: the run's own stamps write it
  return lines.length === 0 ? undefined : { patch, lines, isDue };
}

const countOf = (entries: object): number | undefined => Object.keys(entries).length || undefined;
