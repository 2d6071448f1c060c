import { isDeepStrictEqual } from "node:util";
import type { NewObject } from "../../../lib/kubernetes";
import { decideAdoption, type ExistingObject, type Owner } from "../plan/adoption";
import { changedPaths } from "../plan/changes";
import type { Identity } from "../plan/identity";
import { liveOf } from "../plan/managed-fields";
import { without } from "../plan/path";
import type { Precondition } from "../plan/precondition";
import { judgeStatus, type DesiredStatus } from "../plan/status";
import type { ObjectInputs } from "./inputs";

export interface AdoptionInputs extends ObjectInputs {
  /** the object with the fields that are wished for, and no others */
  object: NewObject;
  owners?: Owner[];
  finalizers?: string[];
  /** takes the object, and fields of it, from whoever has them */
  adopt?: boolean;
  /** what is waited for; without it, nothing is */
  wait?: DesiredStatus;
  /** paths of fields that are written when the object is made, and are somebody else's from then on */
  leave?: string[];
  /** what an object of others must be like to be adopted */
  preconditions?: Precondition[];
  /** others make the object: this stack never does */
  mustExist?: boolean;
  /** what to say when the object that the state has is being deleted, or is gone and not to be made */
  ended?: string;
  /** whether a preview asks the API server, by a dry run, if it would take what is to be written */
  dryRun?: boolean;
  /** what installs the definition of the kind, for the message when it is missing */
  installedBy?: string;
  steps?: string[];
}

export interface AdoptionOutputs extends AdoptionInputs {
  /** whether this stack made the object, and so deletes it */
  made: boolean;
  uid: string;
  /** whether what was waited for had come */
  ready: boolean;
  /** output name → value, as `wait.fields` names them */
  values: Record<string, unknown>;
  /** the wished fields as the server keeps them: it may write a value in its own way */
  applied: unknown;
}

/** An object of the API, as far as adoption looks at it. */
export type LiveObject = ExistingObject & {
  metadata?: { uid?: string; resourceVersion?: string; generation?: number };
  [field: string]: unknown;
};

/** What names the object of an adoption. */
export function identityOf({ object }: Pick<AdoptionInputs, "object">): Identity {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** The wished fields as they are in the cluster, in the form of the wish. */
export function appliedOf({ object, leave = [] }: AdoptionInputs, live: unknown): unknown {
  const { metadata, ...fields } = object;
  const desired = {
    metadata: { labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {} },
    ...fields,
  };
  const { apiVersion: _version, ...compared } = liveOf(desired, live) as Record<string, unknown>;
  return leave.reduce((rest, path) => without(rest, path), compared);
}

/** The wish, in the same form. */
function desiredOf(inputs: AdoptionInputs): unknown {
  const { object } = inputs;
  const { labels = {}, annotations = {} } = object.metadata;
  return appliedOf(inputs, { ...object, metadata: { labels, annotations } });
}

/**
 * What a run has to do with an object that is there, one line each; none when all is as wished.
 * @param applied the wished fields as the server kept them the last time; when absent, the wish itself
 */
export function leftToDo(
  inputs: AdoptionInputs,
  live: LiveObject,
  applied: unknown = desiredOf(inputs),
): string[] {
  const { finalizers = [], owners = [] } = inputs;
  const decision = decideAdoption(live, { ...inputs, owners, adopt: inputs.adopt ?? false });
  const lines: string[] = [];
  if (decision.do === "wait") return ["wait until the old one is gone, then make it"];
  if (decision.do === "adopt")
    lines.push(`adopt it${decision.from === "nobody" ? "" : `, written by ${decision.from}`}`);
  const changed = changedPaths(appliedOf(inputs, live), applied);
  if (changed.length > 0) lines.push(`apply ${changed.join(", ")}`);
  const { ownerReferences = [], finalizers: present = [] } = live.metadata ?? {};
  const missing = owners.filter(
    ({ kind, name }) => !ownerReferences.some((one) => one.kind === kind && one.name === name),
  );
  lines.push(...missing.map(({ kind, name }) => `add its owner ${kind} ${name}`));
  lines.push(
    ...finalizers.filter((name) => !present.includes(name)).map((name) => `add its finalizer ${name}`),
  );
  const judged = judgeStatus(live, inputs.wait ?? {});
  if (!("done" in judged)) lines.push(waitLine(inputs));
  return lines;
}

/** What is waited for, in words. */
export function waitLine({
  wait = {},
  timeoutSeconds,
}: Pick<AdoptionInputs, "wait" | "timeoutSeconds">): string {
  const things = [
    ...Object.values(wait.fields ?? {}),
    ...(wait.equals ?? []).map(({ path, value }) => `${path} ${JSON.stringify(value)}`),
    ...(wait.conditions ?? []).map(({ type, status = "True" }) => `condition ${type} ${status}`),
  ];
  return `wait at most ${timeoutSeconds} s for ${things.join(", ")}`;
}

/** Whether the wishes, and what is needed to reach the cluster, are the same. */
export function isSameDesired(one: AdoptionInputs, other: AdoptionInputs): boolean {
  const compared = ({
    kubeconfig,
    object,
    owners = [],
    finalizers = [],
    adopt = false,
    wait,
    leave = [],
  }: AdoptionInputs) => ({
    kubeconfig,
    object: leave.reduce((rest, path) => without(rest, path), object),
    owners,
    finalizers,
    adopt,
    wait,
    leave,
  });
  return isDeepStrictEqual(compared(one), compared(other));
}
