import { isDeepStrictEqual } from "node:util";
import { isStackId } from "../../../lib/ownership/owner";
import { printable, shortened } from "../../../lib/text/quote";
import { isKnown } from "../../../lib/unknown";
import type { KubernetesClient } from "../../../lib/kubernetes";
import {
  type Claim,
  decideAdoption,
  type ExistingObject,
  type OwnerRef,
  relationTo,
  staleOwners,
} from "../plan/adoption";
import { changedPaths, liveOf, without } from "../plan/fields";
import { type Identity, objectName } from "../plan/identity";
import { expectsSomething, judgeStatus, type DesiredStatus, type Precondition } from "../plan/status";
import type { AdoptionStep } from "../plan/steps";
import { isNotServed, isSameObject, type ObjectInputs } from "./inputs";

/** A desired object: only the fields that this stack sets. */
export interface DesiredManifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  [field: string]: unknown;
}

export interface AdoptionInputs extends ObjectInputs {
  object: DesiredManifest;
  /** The stack's identity and its name "organization/project/stack"; absent in state of older releases. */
  owner?: { id: string; stack: string };
  /** Desired owners of the object; one without a uid is looked up. */
  owners?: OwnerRef[];
  /** The controller that another component sets; it is no reason to refuse the object. */
  controller?: Pick<OwnerRef, "apiVersion" | "kind" | "name">;
  /** Finalizers that the object has until this resource is deleted. */
  finalizers?: string[];
  /** The object that would be in its place with other settings: another stack's is a reason to refuse this one. */
  insteadOf?: Identity;
  /** Whether to take over the object and its fields from another controller or field manager; default false. */
  adopt?: boolean;
  /** Identity of the stack from which the object is taken over; "unmarked" for one that an earlier release recorded. */
  takeOver?: string;
  /** The status to wait for; its `fields` become the output `values`. */
  wait?: DesiredStatus;
  /** Fields that are set only at the creation and then belong to another component: ["spec.replicas"]. */
  leave?: string[];
  /** Conditions for adopting an object that this stack did not create. */
  preconditions?: Precondition[];
  /** Another component creates the object: this stack never does, and the preview refuses a missing object. */
  mustExist?: boolean;
  /** The message when another component deletes this stack's object, or it is gone and must not be created. */
  ended?: string;
  /** Whether the preview checks with a dry run that the API server's webhooks and policies accept the object. */
  dryRun?: boolean;
  /** The software that installs the kind's definition, for the message when it is missing. */
  installedBy?: string;
  steps?: string[];
}

export interface AdoptionOutputs extends AdoptionInputs {
  /** whether this stack created the object and therefore deletes it */
  made: boolean;
  uid: string;
  /** whether the object had reached the desired status */
  ready: boolean;
  /** output name → value, by the names in `wait.fields` */
  values: Record<string, unknown>;
  /** the desired fields as the server stores them, which may normalize values */
  applied: unknown;
}

/** The fields of an API object that adoption needs. */
export type LiveObject = ExistingObject & {
  metadata?: { uid?: string; resourceVersion?: string; generation?: number };
  [field: string]: unknown;
};

/** An object's resource in the state: its old inputs, or its outputs. */
export type RecordedAdoption = Partial<AdoptionOutputs>;

/** Returns the stack of some inputs as the owner of their object. @param olds the resource in the state */
export function claimOf(inputs: AdoptionInputs, olds?: RecordedAdoption): Claim {
  const { stack, owner, takeOver } = inputs;
  const isRecorded =
    olds?.object !== undefined && isSameObject(identityOf({ object: olds.object }), identityOf(inputs));
  const names = isRecorded ? [olds.stack, olds.owner?.stack] : [];
  const recordedAs = names.flatMap((name) => name ?? []);
  if (owner === undefined) return { stack, takeOver, recordedAs };
  // it is not known before it is made, and empty when `--target` leaves it out
  const id = isKnown(owner.id) && isStackId(owner.id) ? owner.id : undefined;
  return { stack, owner: { id, stack: owner.stack }, takeOver, recordedAs };
}

/** Decides what to do with the live object. @param olds the resource in the state */
export function decideObject(inputs: AdoptionInputs, live: LiveObject | undefined, olds?: RecordedAdoption) {
  const { owners = [], controller, adopt = false } = inputs;
  const { uid, made } = olds ?? {};
  return decideAdoption(live, {
    ...claimOf(inputs, olds),
    owners: controller ? [...owners, controller] : owners,
    adopt,
    ...(uid === undefined || made === undefined ? {} : { known: { uid, made } }),
  });
}

/** Returns whether an object is of others until the run that adopts it or takes it over. */
export const isOfOthers = ({ do: what }: ReturnType<typeof decideObject>): boolean =>
  what === "adopt" || what === "takeOver";

/**
 * Returns why a run is refused because of the object in the place of its own; undefined when that is not another stack's, or
 * can't be read with these credentials.
 */
export async function placeIssue(
  kubernetes: Pick<KubernetesClient, "get">,
  inputs: AdoptionInputs,
): Promise<string | undefined> {
  const { insteadOf, stack } = inputs;
  if (insteadOf === undefined) return undefined;
  const found = await kubernetes.get<LiveObject>(insteadOf).catch((error: unknown) => {
    if (isNotServed(error) || (error as { status?: number }).status === 403) return undefined;
    throw error;
  });
  // the state has it under another resource
  const claim = { ...claimOf(inputs), recordedAs: [stack] };
  const relation = relationTo(found?.metadata?.annotations ?? {}, claim);
  const name = objectName(insteadOf);
  if (relation.is === "foreign") return `${name} belongs to ${relation.owner}; ${relation.next}`;
  if (relation.is !== "takeOver") return undefined;
  const own = objectName(identityOf(inputs));
  return `the stack ${relation.from} has ${name}, and not ${own}; choose the same settings as that stack, to take it over`;
}

/** Returns the identity of an adoption's object. */
export function identityOf({ object }: Pick<AdoptionInputs, "object">): Identity {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Returns the live values of the desired fields, in the shape of the desired object. */
export function appliedOf({ object, leave = [] }: AdoptionInputs, live: unknown): unknown {
  const { metadata, ...fields } = object;
  const desired = {
    metadata: { labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {} },
    ...fields,
  };
  const { apiVersion: _version, ...compared } = liveOf(desired, live) as Record<string, unknown>;
  return leave.reduce((rest, path) => without(rest, path), compared);
}

/** Returns the desired object in the same shape. */
function desiredOf(inputs: AdoptionInputs): unknown {
  const { object } = inputs;
  const { labels = {}, annotations = {} } = object.metadata;
  return appliedOf(inputs, { ...object, metadata: { labels, annotations } });
}

/**
 * Returns one step for each thing that a run must do with an existing object; none when it matches.
 *
 * @param olds the resource in the state
 * @param applied the desired fields as the server stored them the last time; default: the desired object itself
 */
export function leftToDo(
  inputs: AdoptionInputs,
  live: LiveObject,
  olds?: RecordedAdoption,
  applied: unknown = desiredOf(inputs),
): AdoptionStep[] {
  const { finalizers = [], owners = [] } = inputs;
  // annotations that others removed are a step, although the state knows the object
  const { made: _made, ...recorded } = olds ?? {};
  const decision = decideObject(inputs, live, recorded);
  const steps: AdoptionStep[] = [];
  if (decision.do === "wait") return [{ kind: "remake" }];
  if (decision.do === "adopt")
    steps.push({ kind: "adopt", ...(decision.from === undefined ? {} : { manager: decision.from }) });
  if (decision.do === "takeOver") steps.push({ kind: "takeOver", from: decision.from });
  if (decision.do === "keep" && inputs.owner !== undefined && inputs.owner.id !== "") {
    const { former } = decision;
    // a run that was killed may have marked the object, and not recorded by whom
    const isUnrecorded = recorded.object !== undefined && recorded.owner?.id !== inputs.owner.id;
    if (former !== undefined) steps.push({ kind: "mark", former: printable(shortened(former)) });
    else if (isUnrecorded) steps.push({ kind: "mark" });
  }
  const changed = changedPaths(appliedOf(inputs, live), applied);
  if (changed.length > 0) steps.push({ kind: "apply", paths: changed.join(", ") });
  const { ownerReferences = [], finalizers: present = [] } = live.metadata ?? {};
  const missing = owners.filter(
    (owner) =>
      !ownerReferences.some((one) => one.kind === owner.kind && one.name === owner.name) ||
      (isKnown(owner.uid) && staleOwners(live, [owner]).length > 0),
  );
  for (const { kind, name } of missing) steps.push({ kind: "addOwner", owner: `${kind} ${name}` });
  for (const finalizer of finalizers)
    if (!present.includes(finalizer)) steps.push({ kind: "addFinalizer", finalizer });
  const judged = judgeStatus(live, inputs.wait ?? {});
  if (!("done" in judged)) steps.push({ kind: "wait", ...waitOf(inputs) });
  return steps;
}

/** Returns the fields of the step of a wait. */
export function waitOf({ wait = {}, timeoutSeconds }: Pick<AdoptionInputs, "wait" | "timeoutSeconds">) {
  const things = [
    ...Object.values(wait.fields ?? {}),
    ...(wait.equals ?? []).map(({ path, value }) => `${path} ${JSON.stringify(value)}`),
    ...(wait.conditions ?? []).map(({ type, status = "True" }) => `condition ${type} ${status}`),
  ];
  return { seconds: timeoutSeconds, status: things.join(", ") };
}

/** Returns the step of the wait of an adoption, if it has one. */
export const waitSteps = (inputs: AdoptionInputs): AdoptionStep[] =>
  expectsSomething(inputs.wait ?? {}) ? [{ kind: "wait", ...waitOf(inputs) }] : [];

/**
 * Returns whether the desired state and the access to the cluster are the same. What it waits for is compared with the live
 * object instead.
 */
export function isSameDesired(one: AdoptionInputs, other: AdoptionInputs): boolean {
  const compared = (inputs: AdoptionInputs) => {
    const { kubeconfig, object, owners = [], finalizers = [], adopt = false, leave = [] } = inputs;
    const set = leave.reduce((rest, path) => without(rest, path), object);
    return { kubeconfig, object: set, owners, finalizers, adopt, leave };
  };
  return isDeepStrictEqual(compared(one), compared(other));
}
