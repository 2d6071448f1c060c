import { UNKNOWN } from "../../lib/unknown";
import type { ReviewedChange } from "./change";
import type { Preview } from "./preview";

/** What `foresail preview --save-plan` writes: the engine's own plan, and what a person reviewed of it. */
export interface SavedPlan {
  readonly foresail: { readonly format: 1; readonly version: string };
  readonly project: string;
  readonly stack: string;
  readonly reviewed: readonly ReviewedChange[];
  /** The engine's plan as it wrote it; its secrets are encrypted with the stack's key. */
  readonly engine: unknown;
}

/** Raised for a file that `foresail preview --save-plan` did not write, or another release did. */
export class UnreadablePlanError extends Error {
  override readonly name = "UnreadablePlanError";

  constructor(why: string) {
    super(`the plan can't be used: ${why}; make a new one with foresail preview --save-plan`);
  }
}

/** Puts a reviewed preview and the engine's plan of the same run into one. */
export function makeSavedPlan(
  preview: Preview,
  ref: { readonly project: string; readonly stack: string },
  engine: unknown,
  version: string,
): SavedPlan {
  const reviewed = preview.changes.map(({ urn, name, type, operation, steps, inputs }) => ({
    urn,
    name,
    type,
    operation,
    steps,
    inputs,
  }));
  return { foresail: { format: 1, version }, ...ref, reviewed, engine: openUnknownSteps(engine) };
}

/**
 * Reads a saved plan, and holds it against the stack that it is to be used on.
 * @throws UnreadablePlanError
 */
export function parseSavedPlan(
  text: string,
  ref: { readonly project: string; readonly stack: string },
): SavedPlan {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UnreadablePlanError("it is no JSON, or was cut off");
  }
  const plan = value as Partial<SavedPlan> | null;
  if (typeof plan !== "object" || plan === null || plan.foresail === undefined || plan.engine === undefined)
    throw new UnreadablePlanError("it is no plan of foresail's");
  if (plan.foresail.format !== 1)
    throw new UnreadablePlanError(`foresail ${String(plan.foresail.version)} wrote it in another format`);
  if (!Array.isArray(plan.reviewed) || !plan.reviewed.every(isReviewedChange))
    throw new UnreadablePlanError("its reviewed steps are damaged");
  for (const what of ["project", "stack"] as const)
    if (plan[what] !== ref[what])
      throw new UnreadablePlanError(`it is of the ${what} ${String(plan[what])}, not of ${ref[what]}`);
  return plan as SavedPlan;
}

function isReviewedChange(value: unknown): value is ReviewedChange {
  const { urn, name, type, operation, steps, inputs } = (value ?? {}) as Record<string, unknown>;
  return (
    [urn, name, type, operation].every((each) => typeof each === "string") &&
    Array.isArray(steps) &&
    steps.every((step) => typeof step === "string") &&
    typeof inputs === "object" &&
    inputs !== null
  );
}

/**
 * The engine holds a plan's values to be kept to the letter. Steps that say "unknown until …" are filled in by the run
 * itself, so the plan has to say unknown in the engine's own way; all other steps bind as they are.
 */
function openUnknownSteps(engine: unknown): unknown {
  if (Array.isArray(engine)) return engine.map(openUnknownSteps);
  if (typeof engine !== "object" || engine === null) return engine;
  return Object.fromEntries(
    Object.entries(engine).map(([key, value]) => [
      key,
      key === "steps" && Array.isArray(value) && value.some((line) => /^unknown until /.test(String(line)))
        ? UNKNOWN
        : openUnknownSteps(value),
    ]),
  );
}
