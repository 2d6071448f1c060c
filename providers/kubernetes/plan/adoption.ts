import { objectName } from "./identity";
import { type ManagedFields, otherWriters, owns } from "./managed-fields";

/** The name under which foresail writes to objects. */
export const FIELD_MANAGER = "foresail";
/** The name under which what changes between two runs is written: by a run and by the monitor alike. */
export const MONITOR_MANAGER = "foresail-monitor";
/** Annotation: the stack that made the object, and deletes it. */
export const MADE_BY = "foresail/made-by";
/** Annotation: the stack that looks after an object that it did not make. */
export const ADOPTED_BY = "foresail/adopted-by";

/** An object that owns another, by uid when the caller knows it. */
export interface Owner {
  apiVersion: string;
  kind: string;
  name: string;
  uid?: string;
  /** at most one owner of an object is its controller */
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** What adoption looks at of an object that exists. */
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
  /** the owners that the caller names */
  owners: readonly Owner[];
  /** takes the object from whoever has it */
  adopt: boolean;
  /** the object that this stack knows as its own, and whether it made it */
  known?: { uid: string; made: boolean };
}

/** What is to be done with an object: make it, go on with one of our own, adopt one, wait, or leave it to its owner. */
type AdoptionDecision =
  | { do: "make" }
  | { do: "keep"; isMade: boolean }
  | { do: "adopt"; from: string }
  | { do: "wait"; why: string }
  | { do: "refuse"; owner: string };

/** Whose an object is, and so what may be done with it. Who writes single fields is the API server's to say. */
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
  // somebody took our mark away; the object is still the one
  if (known !== undefined && known.uid === existing.metadata?.uid) return { do: "keep", isMade: known.made };
  const controller = ownerReferences.find((owner) => owner.controller === true);
  if (controller !== undefined && !owners.some((owner) => isSameOwner(owner, controller))) {
    const owner = `its controller ${objectName(controller)}`;
    return adopt ? { do: "adopt", from: owner } : { do: "refuse", owner };
  }
  const writers = otherWriters(managedFields, FIELD_MANAGER);
  return { do: "adopt", from: writers.length === 0 ? "nobody" : writers.join(", ") };
}

function isSameOwner(one: Owner, other: Owner): boolean {
  if (one.uid !== undefined && other.uid !== undefined) return one.uid === other.uid;
  return one.kind === other.kind && one.name === other.name;
}

/** The annotations that say what this stack is to an object. */
export function marks(stack: string, isMade: boolean): Record<string, string> {
  return isMade ? { [MADE_BY]: stack } : { [ADOPTED_BY]: stack };
}

/** Whether an apply made an object: nobody else has ever written to it. */
export function isFreshlyMade({ metadata }: ExistingObject): boolean {
  const managers = metadata?.managedFields ?? [];
  return managers.length === 1 && managers[0]?.manager === FIELD_MANAGER && managers[0].operation === "Apply";
}

/**
 * Returns the finalizers and the uids of the owners to remove when an object is released: those that only this program
 * wrote.
 *
 * @param held finalizers that mean "until this consumer is done": removed no matter which manager wrote them, since a
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
