import type { Operation, ResourceChange } from "./change";
import { refuseServerOrder } from "./server-order";

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
  /** Notes of foresail's resources that are not steps, `NodeRollout onprem: w-1 is paused: …`, without duplicates. */
  readonly notes: readonly string[];
}

/** The text is not the output of `pulumi preview --json`. */
export class NotAPreviewError extends Error {
  override readonly name = "NotAPreviewError";

  constructor(why: string) {
    super(`this is not what "pulumi preview --json" prints: ${why}`);
  }
}

/** The engine's operation names; others change nothing. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
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

interface EngineStep {
  readonly op?: unknown;
  readonly urn?: unknown;
  readonly newState?: { readonly inputs?: Record<string, unknown> };
  readonly replaceReasons?: unknown;
}

interface EngineDiagnostic {
  readonly urn?: string;
  readonly message?: unknown;
  readonly severity?: string;
}

/**
 * Parses the output of `pulumi preview --json`.
 *
 * @throws NotAPreviewError
 */
export function readPreview(text: string): Preview {
  const { steps, diagnostics, same } = parse(text);
  const changes = new Map<string, ResourceChange>();
  let origin: { stack?: string; project?: string } = {};
  for (const step of steps) {
    const { op, urn } = step;
    if (typeof op !== "string" || typeof urn !== "string") throw new NotAPreviewError("a step has no URN");
    origin = originOf(urn) ?? origin;
    const operation = OPERATIONS[op];
    if (operation === undefined) continue;
    changes.set(urn, merge(changes.get(urn), changeOf(urn, operation, step)));
  }
  const disorder = refuseServerOrder([...changes.values()]);
  return {
    ...origin,
    changes: [...changes.values()],
    unchanged: same,
    errors: [...messages(diagnostics, "error"), ...disorder],
    isRefused: disorder.length > 0 || diagnostics.some(isOfResource),
    warnings: messages(diagnostics, "warning"),
    notes: notesOf(diagnostics, [...changes.values()]),
  };
}

/** The prefix of the handlers' lines: the resource as messages name it. */
const RESOURCE_LINE = /^[A-Z]\w+ [^:]+: (.*)$/s;

/** Returns the handlers' lines that are not steps, because they print each step as a line, too. */
function notesOf(diagnostics: readonly EngineDiagnostic[], changes: readonly ResourceChange[]): string[] {
  const steps = new Set(changes.flatMap((change) => change.steps));
  return messages(diagnostics, "info").filter((words) => {
    const [, line] = RESOURCE_LINE.exec(words) ?? [];
    return line !== undefined && !steps.has(line);
  });
}

function parse(text: string): {
  steps: EngineStep[];
  diagnostics: EngineDiagnostic[];
  same: number;
} {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NotAPreviewError("it is no JSON");
  }
  if (typeof value !== "object" || value === null) throw new NotAPreviewError("it is no object");
  const { steps = [], diagnostics = [], changeSummary } = value as Record<string, unknown>;
  if (!Array.isArray(steps) || !Array.isArray(diagnostics)) throw new NotAPreviewError("it has no steps");
  // an empty object has no steps either, and does not describe a stack
  if (changeSummary === undefined && steps.length === 0 && diagnostics.length === 0)
    throw new NotAPreviewError("it has neither steps nor a summary");
  // of unchanged resources, the engine lists only the stack and counts the others
  const { same = 0 } = (changeSummary ?? {}) as { same?: number };
  return { steps: steps as EngineStep[], diagnostics: diagnostics as EngineDiagnostic[], same };
}

/** Returns whether an error belongs to a resource; the program's own errors have no URN, or the stack's. */
function isOfResource({ severity, urn }: EngineDiagnostic): boolean {
  return severity === "error" && urn !== undefined && urn !== "" && !urn.includes("::pulumi:pulumi:Stack::");
}

function originOf(urn: string): { stack: string; project: string } | undefined {
  const [, stack, project] = /^urn:pulumi:([^:]+)::([^:]+)::/.exec(urn) ?? [];
  return stack === undefined || project === undefined ? undefined : { stack, project };
}

function changeOf(urn: string, operation: Operation, step: EngineStep): ResourceChange {
  const inputs = step.newState?.inputs ?? {};
  const { steps, replaceReasons = [] } = { steps: inputs["steps"], replaceReasons: step.replaceReasons };
  return {
    urn,
    name: urn.split("::").at(-1) ?? urn,
    type: urn.split("::").at(-2)?.split("$").at(-1)?.split(":").at(-1) ?? "",
    operation,
    // an input of another provider may have the same name and another meaning
    steps: isLines(steps) ? steps : [],
    inputs: Object.fromEntries(
      Object.entries(inputs).filter(
        ([key, value]) => !NOT_DESIRED.includes(key) || (key === "steps" && !isLines(value)),
      ),
    ),
    replaceReasons: isLines(replaceReasons) ? replaceReasons : [],
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
    .map(({ message }) => (message as string).replace(/^(error|warning): /, "").trim());
  return [...new Set(found)];
}
