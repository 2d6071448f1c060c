import { isObject } from "../../../lib/json";
import { namesIn, OWN_TYPES, type Outputs, parseUrn } from "../../../lib/pulumi/state";
import { plural } from "../../../lib/text/plural";
import { listed } from "../../../lib/text/quote";
import type { Fleet } from "./fleet";

/** A resource of an exported stack, with the fields on which its end depends. */
export interface ExportedResource {
  readonly urn: string;
  readonly type: string;
  readonly protect?: boolean;
  readonly retainOnDelete?: boolean;
  /** Whether the stack only reads it. */
  readonly external?: boolean;
  readonly outputs?: Outputs;
}

/**
 * What a destroy does with a resource. A released cluster keeps running, and what foresail has in the state for it is
 * forgotten; what is kept stays as it is.
 */
export type ResourceEnd = "delete" | "reset" | "release" | "forget" | "keep" | "refuse";

/** What a destroy of a stack does: URN → end. It is also what a person saw, to which the run is bound. */
export type StackDestroy = Readonly<Record<string, ResourceEnd>>;

const CLUSTER = `${OWN_TYPES}ClusterInit`;
const OWNER = `${OWN_TYPES}ClusterOwner`;
/** Types that stand for no object outside of the machines of a cluster. */
const OF_CLUSTER = [OWN_TYPES, "foresail:", "pulumi:", "command:remote:"];

/** Returns what a destroy does with each resource of a stack. */
export function planDestroy(resources: readonly ExportedResource[]): StackDestroy {
  const isReleased = resources.some((one) => one.type === CLUSTER && isAdopted(one));
  const initialized = new Set(resources.flatMap((one) => (one.type === CLUSTER ? [clusterOf(one)] : [])));
  return Object.fromEntries(
    resources.map((one) => [
      one.urn,
      one.type === OWNER && !initialized.has(clusterOf(one)) ? endOfBegun(one) : endOf(one, isReleased),
    ]),
  );
}

const clusterOf = ({ outputs = {} }: ExportedResource): unknown =>
  isObject(outputs.specification) ? outputs.specification.name : undefined;

/** Returns the end of the machines of a first run that was killed before the state had the cluster. */
function endOfBegun({ outputs = {} }: ExportedResource): ResourceEnd {
  if (outputs.provided === true) return "delete";
  return outputs.adopts === true ? "release" : "reset";
}

function endOf(resource: ExportedResource, isReleased: boolean): ResourceEnd {
  const { type, protect, retainOnDelete, external, outputs } = resource;
  if (protect) return "refuse";
  if (retainOnDelete || external) return "keep";
  if (type === CLUSTER) return isAdopted(resource) ? "release" : "reset";
  if (type === `${OWN_TYPES}Adoption` && outputs?.made === false) return "keep";
  return isReleased && OF_CLUSTER.some((prefix) => type.startsWith(prefix)) ? "forget" : "delete";
}

function isAdopted({ outputs = {} }: ExportedResource): boolean {
  const { adopt } = outputs;
  return typeof adopt === "object" && adopt !== null && !("reset" in adopt && adopt.reset === true);
}

/** Returns the names of resources whose end is not what a person saw; what is gone meanwhile is none of them. */
export const unseenEnds = (now: StackDestroy, seen: StackDestroy): string[] =>
  Object.entries(now).flatMap(([urn, end]) => (seen[urn] === end ? [] : [parseUrn(urn).name]));

/** Returns whether a destroy would refuse a protected resource. */
export const isRefused = (destroy: StackDestroy): boolean => Object.values(destroy).includes("refuse");

/** Returns the words for a stack in the table. */
export function destroyWords(destroy: StackDestroy): string {
  const ends = Object.values(destroy);
  const count = (end: ResourceEnd) => ends.filter((one) => one === end).length;
  if (ends.length === 0) return "nothing is left";
  if (isRefused(destroy)) return `refused: ${plural(count("refuse"), "protected resource")}`;
  const parts = [
    [count("reset"), `reset ${plural(count("reset"), "cluster")}`],
    [count("release"), `release ${plural(count("release"), "cluster")}, which keeps running`],
    [count("keep"), `keep ${plural(count("keep"), "resource")}`],
    [count("delete"), `delete ${plural(count("delete"), "resource")}`],
  ] as const;
  const words = parts.flatMap(([number, words]) => (number > 0 ? [words] : []));
  return words.length > 0 ? words.join("; ") : "forget what is left in the state";
}

/** Returns a line for everything that is more than a deletion, and one for the deletions by type. */
export function destroyDetails(resources: readonly ExportedResource[]): string[] {
  const destroy = planDestroy(resources);
  const deleted = new Map<string, number>();
  const lines = resources.flatMap(({ urn, type, outputs = {} }) => {
    const { name, stack } = parseUrn(urn);
    const kind = type.split(":").at(-1) ?? type;
    const machines = listed(namesIn(outputs.machines));
    const cluster = machines === "" ? name : `${name} (${machines})`;
    const end = destroy[urn] ?? "forget";
    if (end === "delete") deleted.set(kind, (deleted.get(kind) ?? 0) + 1);
    const texts: Partial<Record<ResourceEnd, string>> = {
      refuse: `${kind} ${name}: protected; to allow it: pulumi state unprotect '${urn}' --stack ${stack}`,
      keep: `${kind} ${name}: stays as it is`,
      release: `cluster ${cluster}: others made it and it keeps running; foresail's marks and agents are removed`,
      reset: `cluster ${cluster}: ends; its machines are reset, or deleted when the stack made them`,
    };
    const text = texts[end];
    return text === undefined ? [] : [text];
  });
  const kinds = [...deleted].map(([kind, number]) => (number > 1 ? `${number} ${kind}` : kind));
  return kinds.length > 0 ? [...lines, `deleted: ${kinds.join(", ")}`] : lines;
}

/** Returns the fleet in the order of a destroy: the last wave first, without gates, and no stack after a failure. */
export const reversed = (fleet: Fleet): Fleet => ({
  ...fleet,
  onFailure: "stop",
  waves: fleet.waves
    .map(({ gate: _, ...wave }) => ({ ...wave, stacks: [...wave.stacks].reverse() }))
    .reverse(),
});
