import { withoutValues } from "../engine/engine-messages";
import { resourceMessage } from "../../lib/steps/steps";
import type { ResourceOperation, ResourceChange } from "./steps";
import { refuseServerOrder } from "./server-order";
import { parseUrn } from "../../lib/pulumi/state";
import { displayLine } from "../../lib/text/display";
import { describeViolation, parseViolation, type PolicyViolation } from "../../lib/text/policy-violation";
import { isObject, parseJson } from "../../lib/json";

/** The parts of a preview that a review needs. */
export interface Preview {
  /** Undefined for a stack without resources. */
  readonly stack?: string;
  readonly project?: string;
  readonly changes: readonly ResourceChange[];
  /** The number of resources that stay as they are. */
  readonly unchanged: number;
  /** Errors of the engine, the handlers and the rules of the review, without duplicates. */
  readonly errors: readonly string[];
  /** Whether one of the errors belongs to a resource, rather than to the program or the engine. */
  readonly isRefused: boolean;
  readonly warnings: readonly string[];
  /**
   * Notes of foresail's resources that are not steps, `NodeRollout onprem: w-1 is paused: …`, without duplicates, after
   * the violated policies that refuse nothing.
   */
  readonly notes: readonly string[];
}

/** The engine's operation names; others change nothing. */
const OPERATIONS: Readonly<Record<string, ResourceOperation>> = {
  create: "create",
  update: "update",
  delete: "delete",
  discard: "delete",
  replace: "replace",
  "create-replacement": "replace",
  "delete-replaced": "replace",
  "import-replacement": "replace",
  import: "import",
};

/**
 * Inputs that are not part of the spec: the handlers' key, the steps, which are compared separately, and findings of a
 * run.
 */
const NOT_DESIRED = ["__provider", "steps", "owned", "leaving", "leftOut"];

/**
 * Parses the output of `pulumi preview --json`.
 *
 * @throws NotAPreviewError
 */
export function readPreview(text: string): Preview {
  const { steps, diagnostics, same } = parsePreview(text);
  const changes = new Map<string, ResourceChange>();
  let origin: { stack?: string; project?: string } = {};
  for (const step of steps) {
    const { op, urn } = step;
    const { stack, project } = parseUrn(urn);
    if (stack !== "" && project !== "") origin = { stack, project };
    const operation = OPERATIONS[op];
    if (operation === undefined) continue;
    changes.set(urn, merge(changes.get(urn), changeOf(urn, operation, step)));
  }
  const disorder = refuseServerOrder([...changes.values()]);
  const violations = violationsIn(diagnostics);
  const violated = (isMandatory: boolean) =>
    violations.filter((each) => each.isMandatory === isMandatory).map(describeViolation);
  const refused = violated(true);
  return {
    ...origin,
    changes: [...changes.values()],
    unchanged: same,
    errors: [
      ...refused,
      // the engine's summary of the violations
      ...messages(diagnostics, "error").filter((words) => refused.length === 0 || words !== "preview failed"),
      ...disorder,
    ],
    isRefused: disorder.length > 0 || refused.length > 0 || diagnostics.some(isOfResource),
    warnings: messages(diagnostics, "warning"),
    notes: [...violated(false), ...notesOf(diagnostics, [...changes.values()])],
  };
}

/** Returns what a policy pack printed for foresail. */
function violationsIn(diagnostics: readonly EngineDiagnostic[]): PolicyViolation[] {
  return diagnostics.flatMap(({ message }) =>
    typeof message === "string" ? (parseViolation(message.trim()) ?? []) : [],
  );
}

/** Returns the handlers' lines that are not steps, because they print each step as a line, too. */
function notesOf(diagnostics: readonly EngineDiagnostic[], changes: readonly ResourceChange[]): string[] {
  const steps = new Set(changes.flatMap((change) => change.steps));
  return messages(diagnostics, "info").filter((words) => {
    const message = resourceMessage.parse(words);
    return message !== undefined && !steps.has(displayLine(message.line));
  });
}

/** Returns whether an error belongs to a resource; the program's own errors have no URN, or the stack's. */
function isOfResource({ severity, urn }: EngineDiagnostic): boolean {
  return (
    severity === "error" && urn !== undefined && urn !== "" && parseUrn(urn).type !== "pulumi:pulumi:Stack"
  );
}

function changeOf(urn: string, operation: ResourceOperation, step: EngineStep): ResourceChange {
  const inputs = step.newState?.inputs ?? {};
  const { type, name } = parseUrn(urn);
  const { steps } = inputs;
  return {
    urn,
    name,
    type: type.split(":").at(-1) ?? "",
    operation,
    // an input of another provider may have the same name and another meaning
    steps: isLines(steps) ? steps : [],
    inputs: Object.fromEntries(
      Object.entries(inputs).filter(
        ([key, value]) => !NOT_DESIRED.includes(key) || (key === "steps" && !isLines(value)),
      ),
    ),
    replaceReasons: isLines(step.replaceReasons) ? step.replaceReasons : [],
  };
}

const isLines = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((line) => typeof line === "string");

/** Merges two steps on one URN, the parts of a replacement; prefers the inputs of the new resource. */
function merge(earlier: ResourceChange | undefined, later: ResourceChange): ResourceChange {
  if (earlier === undefined) return later;
  const fuller = Object.keys(later.inputs).length > 0 && later.operation !== "delete" ? later : earlier;
  const reasons = [...new Set([...earlier.replaceReasons, ...later.replaceReasons])];
  return { ...fuller, operation: "replace", replaceReasons: reasons };
}

function messages(diagnostics: readonly EngineDiagnostic[], severity: string): string[] {
  const found = diagnostics
    .filter((each) => each.severity === severity && typeof each.message === "string")
    .map(({ message }) => withoutValues((message as string).replace(/^(error|warning): /, "").trim()));
  return [...new Set(found)];
}

/** One operation of a preview. */
interface EngineStep {
  /** The engine's name: "same", "create", "delete-replaced", … */
  readonly op: string;
  readonly urn: string;
  readonly oldState?: { readonly inputs?: Readonly<Record<string, unknown>> };
  readonly newState?: { readonly type?: string; readonly inputs?: Readonly<Record<string, unknown>> };
  readonly replaceReasons?: unknown;
}

/** A message of the engine, the program or a handler. */
interface EngineDiagnostic {
  readonly urn?: string;
  readonly message?: unknown;
  readonly severity?: string;
}

interface EnginePreview {
  readonly steps: readonly EngineStep[];
  readonly diagnostics: readonly EngineDiagnostic[];
  /** The number of unchanged resources; of these, the engine lists only the stack. */
  readonly same: number;
}

/** The text is not the output of `pulumi preview --json`. */
export class NotAPreviewError extends Error {
  override readonly name = "NotAPreviewError";

  constructor(why: string) {
    super(`this is not what "pulumi preview --json" prints: ${why}`);
  }
}

/**
 * Parses the output of `pulumi preview --json`.
 *
 * @throws NotAPreviewError
 */
export function parsePreview(text: string): EnginePreview {
  const value = parseJson(text);
  if (value === undefined) throw new NotAPreviewError("it is not JSON");
  if (!isObject(value)) throw new NotAPreviewError("it is not an object");
  const { steps = [], diagnostics = [], changeSummary } = value;
  if (!Array.isArray(steps) || !Array.isArray(diagnostics)) throw new NotAPreviewError("it has no steps");
  // an empty object has no steps either, and does not describe a stack
  if (changeSummary === undefined && steps.length === 0 && diagnostics.length === 0)
    throw new NotAPreviewError("it has neither steps nor a summary");
  const { same = 0 } = isObject(changeSummary) ? changeSummary : {};
  if (typeof same !== "number") throw new NotAPreviewError("its summary has no numbers");
  if (!steps.every(isStep)) throw new NotAPreviewError("a step has no URN, or its state is damaged");
  if (!diagnostics.every(isDiagnostic)) throw new NotAPreviewError("a diagnostic is damaged");
  return { steps, diagnostics, same };
}

function isStep(value: unknown): value is EngineStep {
  if (!isObject(value) || typeof value["op"] !== "string" || typeof value["urn"] !== "string") return false;
  return [value["oldState"], value["newState"]].every(isState);
}

/** Returns whether a step's state is absent, or has its inputs as an object. */
function isState(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return isObject(value) && (value["inputs"] === undefined || isObject(value["inputs"]));
}

const isDiagnostic = (value: unknown): value is EngineDiagnostic =>
  isObject(value) && (value["urn"] === undefined || typeof value["urn"] === "string");
