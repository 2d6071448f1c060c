import {
  decideOwnership,
  describeForeign,
  describeOwner,
  type ForeignText,
  isStackId,
  type Owner as StackOfId,
  UNMARKED,
} from "../../../lib/ownership/owner";
import { printable, shortened } from "../../../lib/text/quote";
import { apiGroupOf, objectName } from "./identity";
import { type ManagedFields, otherWriters, owns } from "./fields";

/** The field manager of foresail's writes. */
export const FIELD_MANAGER = "foresail";
/** The field manager for writes between runs, used by a run and by the monitor. */
export const MONITOR_MANAGER = "foresail-monitor";
/** Annotation: the stack that created the object and deletes it. */
export const MADE_BY = "foresail/made-by";
/** Annotation: the stack that manages an object that it did not create. */
export const ADOPTED_BY = "foresail/adopted-by";
/** Annotation: the identity of the stack in the annotation before; absent in those of earlier releases. */
export const OWNER_ID = "foresail/owner-id";
/** The field of a configuration that names the stack from which objects are taken over. */
const TAKE_OVER = "takeOver";

/** An owner of an object, with its uid if the caller has it. */
export interface OwnerRef {
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
    ownerReferences?: OwnerRef[];
    finalizers?: string[];
    deletionTimestamp?: string;
    managedFields?: ManagedFields[];
  };
}

/** This stack, as its annotations name it. */
export interface Claim {
  /** "project/stack", which earlier releases wrote */
  stack: string;
  /** absent in state of earlier releases; without an id until the stack has one */
  owner?: { id?: string | undefined; stack: string } | undefined;
  /** identity of the stack from which this one takes over; "unmarked" for what an earlier release recorded */
  takeOver?: string | undefined;
  /** names under which the state has the object, by which annotations of earlier releases are this stack's; none: it has not */
  recordedAs: readonly string[];
}

/** Which stack an object's annotations name. */
type Relation =
  | { is: "none" }
  /** This one. @param former what its annotations say instead of the stack's identity and name */
  | { is: "own"; isMade: boolean; former?: string }
  | { is: "takeOver"; isMade: boolean; from: string }
  /** @param isNamesake whether the other stack has the name of this one, whose identity the state does not have */
  | ({ is: "foreign"; isNamesake?: true } & ForeignText);

/** Returns the stack that an object's annotations name. The identity decides; names of stacks are not unique. */
export function relationTo(annotations: Readonly<Record<string, string>>, claim: Claim): Relation {
  const { [MADE_BY]: madeBy, [ADOPTED_BY]: adoptedBy, [OWNER_ID]: id } = annotations;
  const name = adoptedBy ?? madeBy;
  const isMade = name !== undefined && name === madeBy;
  if (isStackId(id) && (name !== undefined || id !== claim.owner?.id))
    return identified({ id, stack: name ?? "(no name)" }, isMade, claim);
  return name === undefined ? { is: "none" } : unidentified(name, isMade, claim);
}

function identified(named: StackOfId, isMade: boolean, { stack, owner, takeOver }: Claim): Relation {
  const self = { id: owner?.id, stack: owner?.stack ?? stack };
  const found = decideOwnership(named, { ...self, takeOver });
  const from = { id: named.id, stack: shortened(named.stack) };
  if (found.is === "own") return { is: "own", isMade };
  if (found.is === "renamed") return { is: "own", isMade, former: named.stack };
  if (found.is === "takeOver") return { is: "takeOver", isMade, from: describeOwner(from) };
  const isNamesake = owner === undefined && named.stack.endsWith(`/${stack}`);
  return {
    is: "foreign",
    ...describeForeign(from, self, TAKE_OVER),
    ...(isNamesake ? { isNamesake: true } : {}),
  };
}

/** Returns whose an object is that an earlier release marked, with a name alone: the state of the stack that has it decides. */
function unidentified(
  name: string,
  isMade: boolean,
  { stack, owner, takeOver, recordedAs }: Claim,
): Relation {
  if (owner === undefined && name === stack) return { is: "own", isMade };
  if (owner !== undefined && recordedAs.includes(name)) return { is: "own", isMade, former: name };
  const from = printable(shortened(name));
  if (takeOver === UNMARKED) return { is: "takeOver", isMade, from };
  const isOwnName = name === stack || name === owner?.stack;
  const why = isOwnName ? ", and this stack of that name does not have it in its state" : "";
  return {
    is: "foreign",
    owner: `the stack ${from}, which an earlier release of foresail recorded without its identity${why}`,
    next: `destroy or release it there, or, to take it over, write ${TAKE_OVER}: ${UNMARKED}`,
  };
}

/** What to do about an object of another controller or field manager. */
export const LEAVE_OR_ADOPT = "leave it to its owner, or take it over with `adopt: true`";

interface DesiredAdoption extends Claim {
  /** the owners in the configuration */
  owners: readonly OwnerRef[];
  /** whether to take the object over from another controller or field manager; never from a stack */
  adopt: boolean;
  /** the object in this stack's state, and whether this stack created it */
  known?: { uid: string; made: boolean };
}

/**
 * What to do with an object: create it, keep one of this stack's own, adopt one, take it over from a stack, wait, or refuse
 * because of its owner.
 */
type AdoptionDecision =
  | { do: "make" }
  | { do: "keep"; isMade: boolean; /** what the annotations say instead of this stack */ former?: string }
  | { do: "adopt"; /** the current owner or writers, if any */ from?: string }
  | {
      do: "takeOver";
      from: string;
      /** whether that stack created it, and this one deletes it from now on */ isMade: boolean;
    }
  | { do: "wait"; why: string }
  | ({ do: "refuse" } & ForeignText);

/** Decides from an object's ownership what to do with it. The API server decides on the ownership of single fields. */
export function decideAdoption(
  existing: ExistingObject | undefined,
  { owners, adopt, known, ...claim }: DesiredAdoption,
): AdoptionDecision {
  if (existing === undefined) return { do: "make" };
  const {
    annotations = {},
    ownerReferences = [],
    deletionTimestamp,
    managedFields = [],
  } = existing.metadata ?? {};
  if (deletionTimestamp !== undefined) return { do: "wait", why: "it is being deleted" };
  const relation = relationTo(annotations, claim);
  switch (relation.is) {
    case "own": {
      const { isMade, former } = relation;
      return { do: "keep", isMade, ...(former === undefined ? {} : { former }) };
    }
    case "takeOver":
      return { do: "takeOver", from: relation.from, isMade: relation.isMade };
    case "foreign":
      return { do: "refuse", owner: relation.owner, next: relation.next };
    case "none":
  }
  // this stack's annotation was removed, but the object is the same
  if (known !== undefined && known.uid === existing.metadata?.uid) return { do: "keep", isMade: known.made };
  const controller = ownerReferences.find((owner) => owner.controller === true);
  if (controller !== undefined && !owners.some((owner) => isSameOwner(owner, controller))) {
    const owner = `its controller ${objectName(controller)}`;
    return adopt ? { do: "adopt", from: owner } : { do: "refuse", owner, next: LEAVE_OR_ADOPT };
  }
  const writers = otherWriters(managedFields, FIELD_MANAGER);
  return { do: "adopt", ...(writers.length > 0 ? { from: writers.join(", ") } : {}) };
}

function isSameOwner(one: OwnerRef, other: OwnerRef): boolean {
  if (one.uid !== undefined && other.uid !== undefined) return one.uid === other.uid;
  return one.kind === other.kind && one.name === other.name;
}

/**
 * Returns the owners of an object that the desired ones replace: those of the same name with another uid. An object that was
 * moved or restored has the uid of its former owner; an object has only one controller.
 */
export function staleOwners(
  { metadata }: ExistingObject,
  desired: readonly Pick<OwnerRef, "apiVersion" | "kind" | "name" | "uid">[],
): OwnerRef[] {
  return (metadata?.ownerReferences ?? []).filter((owner) =>
    desired.some(
      (one) =>
        one.uid !== undefined &&
        owner.uid !== undefined &&
        one.uid !== owner.uid &&
        one.kind === owner.kind &&
        one.name === owner.name &&
        apiGroupOf(one.apiVersion) === apiGroupOf(owner.apiVersion),
    ),
  );
}

/** Returns the annotations that record this stack's relation to an object. */
export function marks({ stack, owner }: Claim, isMade: boolean): Record<string, string> {
  return {
    [isMade ? MADE_BY : ADOPTED_BY]: owner?.stack ?? stack,
    ...(owner?.id === undefined ? {} : { [OWNER_ID]: owner.id }),
  };
}

/** Returns the names of this stack's annotations of an object. */
export const ownMarks = (annotations: Readonly<Record<string, string>>, claim: Claim): string[] =>
  relationTo(annotations, claim).is === "own"
    ? [MADE_BY, ADOPTED_BY, OWNER_ID].filter((name) => name in annotations)
    : [];

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
