import { isDeepStrictEqual } from "node:util";
import {
  KindNotServed,
  type KubernetesClient,
  KubernetesError,
  KubernetesUnreachable,
  type NewObject,
} from "../../../lib/kubernetes";
import { assertEngineAlive } from "../../../lib/process/parent-watch";
import {
  FIELD_MANAGER,
  isFreshlyMade,
  LEAVE_OR_ADOPT,
  marks,
  type OwnerRef,
  ownAdditions,
  ownMarks,
  relationTo,
  staleOwners,
} from "../plan/adoption";
import { objectName } from "../plan/identity";
import { fieldAt, withLiveVersions, withValue } from "../plan/fields";
import { missingObject, preconditionFault } from "../plan/status";
import {
  type AdoptionInputs,
  type AdoptionOutputs,
  claimOf,
  decideObject,
  identityOf,
  isOfOthers,
  type LiveObject,
  placeIssue,
  type RecordedAdoption,
} from "./adoption-inputs";
import { type ClusterWork, siblings } from "./inputs";
import { untilGone } from "./object-waits";

/** The object or some of its fields belong to another owner. */
class OwnedByAnother extends Error {
  override readonly name = "OwnedByAnother";

  constructor(
    object: string,
    readonly owner: string,
    readonly next = LEAVE_OR_ADOPT,
  ) {
    super(`${object} belongs to ${owner}`);
  }
}

/** The object has an identity, and the state of this stack, which has the same name, has none. */
class UnrecordedOwner extends Error {
  override readonly name = "UnrecordedOwner";
  readonly next =
    "run `pulumi up`, which records this stack's identity if a run of this stack marked the object, and then the same again";

  constructor(object: string, owner: string) {
    super(`${object} belongs to ${owner}; an earlier release recorded it in the state without an identity`);
  }
}

const ATTEMPTS = 5;

/** Removes the owners that the desired ones replace, unless the object has changed since it was read. */
async function dropStaleOwners(
  kubernetes: KubernetesClient,
  ref: ReturnType<typeof identityOf>,
  existing: LiveObject,
  owners: readonly OwnerRef[],
): Promise<void> {
  const stale = staleOwners(existing, owners);
  const { ownerReferences = [], resourceVersion } = existing.metadata ?? {};
  if (stale.length === 0) return;
  const valid = ownerReferences.filter((owner) => !stale.includes(owner));
  await kubernetes.mergePatch(ref, { metadata: { resourceVersion, ownerReferences: valid } });
}

/**
 * Creates the object, or applies the desired fields to the existing one; its annotation records which. After a lost
 * response or a conflict it reads the object again.
 *
 * @param olds the resource in the state
 * @throws OwnedByAnother, KindNotServed, KubernetesError, KubernetesUnreachable
 */
export async function ensureObject(
  work: ClusterWork,
  inputs: AdoptionInputs,
  olds?: RecordedAdoption,
): Promise<{ object: LiveObject; made: boolean }> {
  const { kubernetes } = work;
  const ref = identityOf(inputs);
  const owners = await resolveOwners(kubernetes, inputs);
  const issue = await placeIssue(kubernetes, inputs);
  if (issue !== undefined) throw new Error(issue);
  let lost: unknown;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const existing = await kubernetes.get<LiveObject>(ref);
    const decision = decideObject(inputs, existing, olds);
    assertEngineAlive();
    if (decision.do === "refuse") throw new OwnedByAnother(objectName(ref), decision.owner, decision.next);
    if (decision.do === "make" && inputs.mustExist)
      throw new Error(missingObject(objectName(ref), ref.kind, await siblings(kubernetes, ref)));
    const fault = preconditionFault(existing, isOfOthers(decision) ? inputs.preconditions : []);
    if (fault !== undefined) throw new Error(`${objectName(ref)} ${fault}`);
    if (decision.do === "wait") {
      await untilGone(work, ref, inputs.timeoutSeconds);
      continue;
    }
    const made = decision.do === "make" || (decision.do !== "adopt" && decision.isMade);
    const object = desired(inputs, owners, marks(claimOf(inputs), made), existing);
    try {
      if (existing !== undefined) await dropStaleOwners(kubernetes, ref, existing, owners);
      const force = decision.do === "keep" || inputs.adopt;
      const applied = await kubernetes.apply<LiveObject>(object, { force, once: decision.do === "make" });
      if (decision.do !== "make" || isFreshlyMade(applied)) return { object: applied, made };
      // another writer created it just before: release it and decide again
      await letGo(work, inputs);
    } catch (error) {
      if (!mayBeSettledByAsking(error, isOfOthers(decision) && !inputs.adopt)) throw ownerOf(error, ref);
      lost = error;
    }
  }
  throw lost;
}

/** The status codes for a permanent refusal: invalid, denied by admission, or a field of another manager. */
const REFUSED = [400, 403, 409, 422];

/**
 * Checks with a dry run whether the API server would accept the object: its schema, its webhooks and its policies.
 *
 * @returns why it would not; undefined when it would, or when these credentials may not write, so that it is unknown
 * @throws KubernetesUnreachable
 */
export async function dryRunRefusal(
  kubernetes: KubernetesClient,
  inputs: AdoptionInputs,
  existing: LiveObject | undefined,
  force: boolean,
): Promise<string | undefined> {
  const ref = identityOf(inputs);
  const owners = (inputs.owners ?? []).filter(({ uid }) => uid !== undefined);
  const object = desired(inputs, owners, marks(claimOf(inputs), existing === undefined), existing);
  try {
    await kubernetes.apply(object, { force, dryRun: true });
    return undefined;
  } catch (error) {
    // its namespace may be created by the same program, and not every webhook can be asked without a write
    const isUnknown = (status: number, remote: string) =>
      (status === 404 && existing === undefined) || /does not support dry run/.test(remote);
    if (error instanceof KubernetesError && isUnknown(error.status, error.remote)) return undefined;
    if (!(error instanceof KubernetesError) || !REFUSED.includes(error.status)) throw error;
    if (error.status === 403 && !(await kubernetes.mayDo("patch", ref))) return undefined;
    const cause = ownerOf(error, ref);
    return cause instanceof OwnedByAnother
      ? `${cause.message}; ${cause.next}`
      : `${objectName(ref)}: ${error.remote}`;
  }
}

/**
 * Returns whether reading the object again shows the outcome of a call: its response was lost, or another writer was
 * faster.
 */
function mayBeSettledByAsking(error: unknown, isOthers: boolean): boolean {
  if (error instanceof KubernetesUnreachable) return error.outcomeUnknown;
  // a conflict over another manager's fields is permanent
  const isOverFields = error instanceof KubernetesError && error.causes.length > 0;
  return error instanceof KubernetesError && error.status === 409 && !(isOthers && isOverFields);
}

/** Adds the owner of the fields to an error about a field conflict. */
function ownerOf(error: unknown, ref: ReturnType<typeof identityOf>): unknown {
  if (!(error instanceof KubernetesError) || error.status !== 409) return error;
  const managers = error.causes.flatMap((cause) => /conflict with "([^"]+)"/.exec(cause)?.[1] ?? []);
  if (managers.length === 0) return error;
  const fields = error.remote.replace(/^Apply failed with \d+ conflicts?: /, "");
  return new OwnedByAnother(objectName(ref), `${[...new Set(managers)].join(", ")} (${fields})`);
}

/**
 * Returns the object to send. It contains the uid of an existing object, so that no new one is created if that is
 * deleted meanwhile.
 */
function desired(
  { object, leave = [], finalizers = [] }: AdoptionInputs,
  owners: readonly OwnerRef[],
  annotations: Record<string, string>,
  existing: LiveObject | undefined,
): NewObject {
  const { uid, resourceVersion } = existing?.metadata ?? {};
  const metadata = {
    ...object.metadata,
    annotations: { ...object.metadata.annotations, ...annotations },
    ...(owners.length > 0 ? { ownerReferences: owners } : {}),
    ...(finalizers.length > 0 ? { finalizers } : {}),
    ...(uid === undefined ? {} : { uid }),
    // another component's fields are sent as they were read, and only if they have not changed since
    ...(uid === undefined || leave.length === 0 ? {} : { resourceVersion }),
  };
  if (existing === undefined) return { ...object, metadata };
  const sent = withLiveVersions({ ...object, metadata }, existing);
  return leave.reduce((rest, path) => withValue(rest, path, fieldAt(existing, path)), sent);
}

async function resolveOwners(kubernetes: KubernetesClient, inputs: AdoptionInputs): Promise<OwnerRef[]> {
  const { namespace } = inputs.object.metadata;
  const resolved = (inputs.owners ?? []).map(async (owner) => {
    if (owner.uid !== undefined) return owner;
    const { apiVersion, kind, name } = owner;
    const found = await kubernetes.get<LiveObject>({ apiVersion, kind, name, namespace });
    const uid = found?.metadata?.uid;
    if (uid === undefined)
      throw new Error(`its owner ${objectName({ kind, name, namespace })} does not exist`);
    return { ...owner, uid };
  });
  return Promise.all(resolved);
}

/**
 * Releases an object: removes this stack's annotations, the owners and finalizers that only foresail wrote, and its
 * ownership of fields, whose values stay.
 *
 * @param held finalizers to remove regardless of their manager
 */
async function letGo(work: ClusterWork, inputs: AdoptionInputs, held: readonly string[] = []): Promise<void> {
  await work.kubernetes.change<LiveObject>(identityOf(inputs), (live) => {
    if (live === undefined) return undefined;
    const { managedFields = [], annotations = {} } = live.metadata ?? {};
    const ours = ownMarks(annotations, claimOf(inputs, inputs));
    const others = managedFields.filter(({ manager }) => manager !== FIELD_MANAGER);
    const metadata = {
      ...withoutOurs(live, held),
      annotations: Object.fromEntries(ours.map((name) => [name, null])),
      // the API server ignores an empty list
      managedFields: others.length === 0 ? [{}] : others,
    };
    return { metadata };
  });
}

function withoutOurs(
  live: LiveObject,
  held: readonly string[],
): { finalizers: string[]; ownerReferences: OwnerRef[] } {
  const { finalizers, ownerUids } = ownAdditions(live, held);
  const { finalizers: all = [], ownerReferences = [] } = live.metadata ?? {};
  return {
    finalizers: all.filter((name) => !finalizers.includes(name)),
    ownerReferences: ownerReferences.filter(({ uid }) => uid === undefined || !ownerUids.includes(uid)),
  };
}

/**
 * Deletes the object if this stack created it, and waits until it is gone; releases any other. Removes the finalizers
 * in the inputs in both cases, regardless of their manager.
 *
 * @returns a message about the outcome
 */
export async function releaseObject(work: ClusterWork, inputs: AdoptionOutputs): Promise<string> {
  const { uid } = inputs;
  const ref = identityOf(inputs);
  let live: LiveObject | undefined;
  try {
    live = await work.kubernetes.get<LiveObject>(ref);
  } catch (error) {
    if (error instanceof KindNotServed) return "its kind is gone, and it with it";
    throw error;
  }
  if (live === undefined) return "it is gone already";
  if (live.metadata?.uid !== uid) return "another has its name now, which is left alone";
  const relation = relationTo(live.metadata.annotations ?? {}, claimOf(inputs, inputs));
  if (relation.is === "foreign" && relation.isNamesake)
    throw new UnrecordedOwner(objectName(ref), relation.owner);
  if (relation.is === "foreign") return `${relation.owner} has taken it over, and keeps it`;
  if (relation.is === "takeOver") return `the stack ${relation.from} still has it, and keeps it`;
  assertEngineAlive();
  if (relation.is !== "own" || !relation.isMade) {
    await letGo(work, inputs, inputs.finalizers);
    return "released; it stays, because this stack did not create it";
  }
  await work.kubernetes.delete(ref, { uid }).catch((error: unknown) => {
    if (!(error instanceof KubernetesError) || error.status !== 409) throw error;
  });
  await work.kubernetes.change<LiveObject>(ref, (present) => {
    if (present?.metadata?.uid !== uid) return undefined;
    const { finalizers } = withoutOurs(present, inputs.finalizers ?? []);
    const isDone = isDeepStrictEqual(finalizers, present.metadata.finalizers ?? []);
    return isDone ? undefined : { metadata: { finalizers } };
  });
  await untilGone(work, ref, inputs.timeoutSeconds, uid);
  return "deleted";
}
