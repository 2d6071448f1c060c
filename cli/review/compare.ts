import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../lib/json";
import { isUnknown } from "../../lib/unknown";
import { isBegun } from "./begun";
import {
  type ResourceOperation,
  type ReviewedChange,
  isPreparation,
  readStep,
  type ReviewStep,
} from "./steps";

/** A resource whose current steps differ from the reviewed ones. */
export interface Difference {
  readonly name: string;
  readonly type: string;
  readonly why: string;
  /** Empty when the review does not name the resource. */
  readonly reviewed: readonly string[];
  readonly current: readonly string[];
}

/** Whether the current plan is the reviewed one. */
export type Verdict =
  /** Identical: the reviewed plan can constrain the engine. */
  | { readonly kind: "same" }
  /** A subset of the reviewed steps: a resumed run. */
  | { readonly kind: "remainder" }
  /** Everything that was reviewed is done. */
  | { readonly kind: "nothing left" }
  | { readonly kind: "moved"; readonly differences: readonly Difference[] };

/** The operations that may remain of an operation: a create that failed half-way becomes an update. */
const LEFT_OF: Readonly<Record<ResourceOperation, readonly ResourceOperation[]>> = {
  create: ["create", "update"],
  update: ["update"],
  replace: ["replace", "create", "update", "delete"],
  delete: ["delete"],
  import: ["import"],
};

/**
 * Decides whether the current plan is the reviewed one, or a strict remainder of it: no resource that the review does
 * not name, no other operation, no other inputs, and a part of the reviewed steps in their order.
 */
export function compareReview(
  reviewed: readonly ReviewedChange[],
  current: readonly ReviewedChange[],
): Verdict {
  const byUrn = new Map(reviewed.map((change) => [change.urn, change]));
  // a run that was interrupted recorded the machines; what is left of their preparation comes from their groups
  const prepared = reviewed.flatMap(({ steps }) => steps.filter(isPreparation));
  const differences = current.flatMap((change) => differenceOf(byUrn.get(change.urn), change, prepared));
  if (differences.length > 0) return { kind: "moved", differences };
  if (current.length === 0 && reviewed.length > 0) return { kind: "nothing left" };
  const same =
    current.length === reviewed.length &&
    current.every((change) => {
      const before = byUrn.get(change.urn);
      return (
        before !== undefined &&
        before.operation === change.operation &&
        isDeepStrictEqual([...before.steps], [...change.steps]) &&
        isDeepStrictEqual(before.inputs, change.inputs)
      );
    });
  return same ? { kind: "same" } : { kind: "remainder" };
}

function differenceOf(
  reviewed: ReviewedChange | undefined,
  current: ReviewedChange,
  prepared: readonly string[],
): Difference[] {
  const differs = (why: string): Difference[] => [
    {
      name: current.name,
      type: current.type,
      why,
      reviewed: reviewed === undefined ? [] : linesOf(reviewed),
      current: linesOf(current),
    },
  ];
  if (reviewed === undefined) return differs("the review does not change it");
  if (!LEFT_OF[reviewed.operation].includes(current.operation))
    return differs(`reviewed is ${reviewed.operation}, now it would be ${current.operation}`);
  const changed = changedInput(reviewed, current);
  // what remains of a deletion has no inputs of its own
  if (changed !== undefined && current.operation !== "delete")
    return differs(`its input ${changed} differs from the review`);
  const lines = current.type === "NodeGroup" ? [...prepared, ...reviewed.steps] : reviewed.steps;
  const step = unreviewedStep(current.type, lines, current.steps);
  return step === undefined ? [] : differs(`not reviewed: ${step}`);
}

/** Returns the lines that show a change: its steps, or the operation when it has none. */
function linesOf({ steps, operation }: ReviewedChange): readonly string[] {
  return steps.length > 0 ? steps : [`(${operation})`];
}

/** Returns the first current step of a resource that does not follow from the reviewed ones, or undefined. */
export function unreviewedStep(
  type: string,
  reviewed: readonly string[],
  current: readonly string[],
): string | undefined {
  const open = reviewed.map((line) => readStep(type, line)).filter(({ role }) => role === "unknown");
  let from = 0;
  for (const line of current) {
    const step = readStep(type, line);
    if (step.role === "remark") continue;
    const at = reviewed.indexOf(line, from);
    if (at >= 0) {
      from = at + 1;
      continue;
    }
    // nodes that were in progress together are finished first, in any order
    if (reviewed.some((each) => isBegun(type, line, each))) continue;
    if (isReviewedJoin(type, step, reviewed)) continue;
    if (!open.some((each) => fillsIn(step, each))) return line;
  }
  return undefined;
}

/**
 * Returns whether a step that is not known now is about joins that were reviewed line by line: after a run that was interrupted,
 * a control plane may be a member although the state has no kubeconfig yet.
 */
function isReviewedJoin(type: string, { role, wanted }: ReviewStep, reviewed: readonly string[]): boolean {
  if (role !== "unknown" || wanted === undefined) return false;
  const joining = reviewed.flatMap((line) => {
    const { joins, machine } = readStep(type, line);
    return joins && machine !== undefined ? [machine] : [];
  });
  return wanted.every((name) => joining.includes(name));
}

/**
 * Returns whether a step fills in an unknown one. For a cluster that did not exist yet, its machines and that they join
 * were reviewed; for machines that did not exist yet, that they are made ready. No step that removes a node was.
 */
function fillsIn(step: ReviewStep, { wanted }: ReviewStep): boolean {
  if (step.role !== "step") return false;
  if (wanted === undefined) return !step.isDisruptive;
  return step.joins && (step.machine === undefined || wanted.includes(step.machine));
}

/** Returns the name of the first input that differs from the reviewed one, or undefined. */
function changedInput(reviewed: ReviewedChange, current: ReviewedChange): string | undefined {
  const names = new Set([...Object.keys(reviewed.inputs), ...Object.keys(current.inputs)]);
  return [...names].find((name) => !keeps(reviewed.inputs[name], current.inputs[name]));
}

/** Returns whether a value is the reviewed one; a value that was unknown then may have any value now. */
function keeps(reviewed: unknown, current: unknown): boolean {
  if (isUnknown(reviewed)) return true;
  if (Array.isArray(reviewed) && Array.isArray(current))
    return reviewed.length === current.length && reviewed.every((each, index) => keeps(each, current[index]));
  if (isObject(reviewed) && isObject(current)) {
    const names = new Set([...Object.keys(reviewed), ...Object.keys(current)]);
    return [...names].every((name) => keeps(reviewed[name], current[name]));
  }
  return isDeepStrictEqual(reviewed, current);
}
