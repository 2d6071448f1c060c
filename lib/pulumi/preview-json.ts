import { isObject, parseJson } from "../json";

/** One operation of a preview. */
export interface EngineStep {
  /** The engine's name: "same", "create", "delete-replaced", … */
  readonly op: string;
  readonly urn: string;
  readonly newState?: { readonly type?: string; readonly inputs?: Readonly<Record<string, unknown>> };
  readonly replaceReasons?: unknown;
}

/** A message of the engine, the program or a handler. */
export interface EngineDiagnostic {
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
  if (value === undefined) throw new NotAPreviewError("it is no JSON");
  if (!isObject(value)) throw new NotAPreviewError("it is no object");
  const { steps = [], diagnostics = [], changeSummary } = value;
  if (!Array.isArray(steps) || !Array.isArray(diagnostics)) throw new NotAPreviewError("it has no steps");
  // an empty object has no steps either, and does not describe a stack
  if (changeSummary === undefined && steps.length === 0 && diagnostics.length === 0)
    throw new NotAPreviewError("it has neither steps nor a summary");
  const { same = 0 } = (changeSummary ?? {}) as { same?: number };
  if (!steps.every(isStep)) throw new NotAPreviewError("a step has no URN");
  return { steps, diagnostics: diagnostics as EngineDiagnostic[], same };
}

function isStep(value: unknown): value is EngineStep {
  return isObject(value) && typeof value["op"] === "string" && typeof value["urn"] === "string";
}
