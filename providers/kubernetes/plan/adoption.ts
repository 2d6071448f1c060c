import { objectName } from "./identity";
import { type ManagedFields, otherWriters, owns } from "./fields";

/** The field manager of foresail's writes. */
export const FIELD_MANAGER = "foresail";
/** The field manager for writes between runs, used by a run and by the monitor. */
export const MONITOR_MANAGER = "foresail-monitor";
/** Annotation: the stack that created the object and deletes it. */
export const MADE_BY = "foresail/made-by";
/** Annotation: the stack that manages an object that it did not create. */
export const ADOPTED_BY = "foresail/adopted-by";

/** An owner of an object, with its uid if the caller has it. */
export interface Owner {
  apiVersion: string;
  kind: string;
  name: string;
  uid?: string;
  /** at most one owner of an object is its controller */
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** The fields of an existing object that adoption needs. */
export interface ExistingObject {
  metadata?: {
    uid?: string;
    annotations?: Record<string, string>;
    ownerReferences?: Owner[];
    finalizers?: string[];
    deletionTimestamp?: string;
    managedFields?: ManagedFields[];
  };
}

interface DesiredAdoption {
  /** "project/stack" */
  stack: string;
  /** the owners in the configuration */
  owners: readonly Owner[];
  /** whether to take the object over from its current owner */
  adopt: boolean;
  /** the object in this stack's state, and whether this stack created it */
  known?: { uid: string; made: boolean };
}

/**
 * What to do with an object: create it, keep one of this stack's own, adopt one, wait, or refuse because of its owner.
 */
type AdoptionDecision =
  | { do: "make" }
  | { do: "keep"; isMade: boolean }
  | { do: "adopt"; /** the current owner or writers, if any */ from?: string }
  | { do: "wait"; why: string }
  | { do: "refuse"; owner: string };

/** Decides from an object's ownership what to do with it. The API server decides on the ownership of single fields. */
export function decideAdoption(
  existing: ExistingObject | undefined,
  { stack, owners, adopt, known }: DesiredAdoption,
): AdoptionDecision {
  if (existing === undefined) return { do: "make" };
  const {
    annotations = {},
    ownerReferences = [],
    deletionTimestamp,
    managedFields = [],
  } = existing.metadata ?? {};
  if (deletionTimestamp !== undefined) return { do: "wait", why: "it is being deleted" };
  const madeBy = annotations[MADE_BY];
  const adoptedBy = annotations[ADOPTED_BY];
  if ((adoptedBy ?? madeBy) === stack) return { do: "keep", isMade: madeBy === stack };
  const holder = adoptedBy ?? madeBy;
  if (holder !== undefined)
    return adopt
      ? { do: "adopt", from: `the stack ${holder}` }
      : { do: "refuse", owner: `the stack ${holder}` };
  // this stack's annotation was removed, but the object is the same
  if (known !== undefined && known.uid === existing.metadata?.uid) return { do: "keep", isMade: known.made };
  const controller = ownerReferences.find((owner) => owner.controller === true);
  if (controller !== undefined && !owners.some((owner) => isSameOwner(owner, controller))) {
    const owner = `its controller ${objectName(controller)}`;
    return adopt ? { do: "adopt", from: owner } : { do: "refuse", owner };
  }
  const writers = otherWriters(managedFields, FIELD_MANAGER);
  return { do: "adopt", ...(writers.length > 0 ? { from: writers.join(", ") } : {}) };
}

function isSameOwner(one: Owner, other: Owner): boolean {
  if (one.uid !== undefined && other.uid !== undefined) return one.uid === other.uid;
  return one.kind === other.kind && one.name === other.name;
}

/** Returns the annotations that record this stack's relation to an object. */
export function marks(stack: string, isMade: boolean): Record<string, string> {
  return isMade ? { [MADE_BY]: stack } : { [ADOPTED_BY]: stack };
}

/** Returns whether an apply created an object: there is no other writer. */
export function isFreshlyMade({ metadata }: ExistingObject): boolean {
  const managers = metadata?.managedFields ?? [];
  return managers.length === 1 && managers[0]?.manager === FIELD_MANAGER && managers[0].operation === "Apply";
}

/**
 * Returns the finalizers and the uids of the owners to remove when an object is released: those that only this program
 * wrote.
 *
 * @param held finalizers that mean "until this consumer is done": removed regardless of their manager, since a
 *   controller that hands an object over never removes its own
 */
export function ownAdditions(
  { metadata }: ExistingObject,
  held: readonly string[] = [],
): { finalizers: string[]; ownerUids: string[] } {
  const { managedFields = [], finalizers = [], ownerReferences = [] } = metadata ?? {};
  const isOurs = ({ manager, operation }: ManagedFields) =>
    (manager === FIELD_MANAGER || manager === MONITOR_MANAGER) && operation === "Apply";
  const alone = (...keys: string[]) => {
    const writers = managedFields.filter((writer) => owns(writer, ["f:metadata", ...keys]));
    return writers.length > 0 && writers.every(isOurs);
  };
  return {
    finalizers: finalizers.filter(
      (name) => held.includes(name) || alone("f:finalizers", `v:${JSON.stringify(name)}`),
    ),
    ownerUids: ownerReferences
      .map(({ uid = "" }) => uid)
      .filter((uid) => alone("f:ownerReferences", `k:{"uid":${JSON.stringify(uid)}}`)),
  };
}
