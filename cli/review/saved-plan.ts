import { commonSteps } from "../../lib/steps/steps";
import { isObject, parseJson } from "../../lib/json";
import { parseUrn } from "../../lib/pulumi/state";
import { UNKNOWN } from "../../lib/unknown";
import { isPreparation, type ReviewedChange } from "./steps";
import type { Preview } from "./preview";

/** Number of the file's format; another one is refused, because its steps would not be understood. */
const FORMAT_VERSION = 2;

/** The file that `foresail preview --save-plan` writes: the engine's own plan, and the reviewed changes. */
export interface SavedPlan {
  readonly formatVersion: typeof FORMAT_VERSION;
  readonly foresail: { readonly version: string };
  readonly project: string;
  readonly stack: string;
  readonly reviewed: readonly ReviewedChange[];
  /** The engine's plan unchanged; its secrets are encrypted with the stack's key. */
  readonly engine: unknown;
}

/** The file was not written by `foresail preview --save-plan`, or was written by another release. */
export class UnreadablePlanError extends Error {
  override readonly name = "UnreadablePlanError";

  constructor(why: string) {
    super(`the plan can't be used: ${why}. Preview and review again: foresail preview --save-plan FILE`);
  }
}

/** Combines a reviewed preview and the engine's plan of the same run. */
export function makeSavedPlan(
  preview: Preview,
  ref: { readonly project: string; readonly stack: string },
  engine: unknown,
  version: string,
): SavedPlan {
  const reviewed = preview.changes.map(({ replaceReasons: _, ...change }) => change);
  return {
    formatVersion: FORMAT_VERSION,
    foresail: { version },
    ...ref,
    reviewed,
    engine: openUnknownSteps(openJoins(engine)),
  };
}

/**
 * Parses a saved plan and checks that it belongs to the stack.
 *
 * @throws UnreadablePlanError
 */
export function parseSavedPlan(
  text: string,
  ref: { readonly project: string; readonly stack: string },
): SavedPlan {
  const value = parseJson(text);
  if (value === undefined) throw new UnreadablePlanError("it is not JSON, or it is truncated");
  const plan: Partial<SavedPlan> = isObject(value) ? value : {};
  if (!isObject(plan.foresail) || plan.engine === undefined)
    throw new UnreadablePlanError("it is not a plan of foresail");
  const found = plan.formatVersion ?? 1;
  if (found !== FORMAT_VERSION)
    throw new UnreadablePlanError(
      `foresail ${String(plan.foresail.version)} wrote it in format ${String(found)}, and this release reads format ${FORMAT_VERSION}`,
    );
  if (!isEnginePlan(plan.engine)) throw new UnreadablePlanError("the engine's plan in it is damaged");
  if (!Array.isArray(plan.reviewed) || !plan.reviewed.every(isReviewedChange))
    throw new UnreadablePlanError("its reviewed steps are damaged");
  for (const what of ["project", "stack"] as const)
    if (plan[what] !== ref[what])
      throw new UnreadablePlanError(`it is of the ${what} ${String(plan[what])}, not of ${ref[what]}`);
  return plan as SavedPlan;
}

function isReviewedChange(value: unknown): value is ReviewedChange {
  if (!isObject(value)) return false;
  const { urn, name, type, operation, steps, inputs } = value;
  const texts = [urn, name, type, operation, ...(Array.isArray(steps) ? (steps as unknown[]) : [steps])];
  return texts.every((each) => typeof each === "string") && Array.isArray(steps) && isObject(inputs);
}

const isObjectOrAbsent = (value: unknown): boolean => (value ?? undefined) === undefined || isObject(value);

/** Returns whether a value has the parts of the engine's plan that are read here in their form. */
function isEnginePlan(value: unknown): boolean {
  if (!isObject(value) || !isObjectOrAbsent(value.resourcePlans)) return false;
  return Object.values(value.resourcePlans ?? {}).every((each) => {
    if (!isObject(each) || !isObjectOrAbsent(each.goal)) return false;
    return !isObject(each.goal) || isObjectOrAbsent(each.goal.outputDiff);
  });
}

/** The parts of the engine's plan that are about outputs. */
interface EnginePlan {
  readonly resourcePlans?: Readonly<Record<string, ResourcePlan>>;
}
interface ResourcePlan {
  readonly goal?: { readonly outputDiff?: object; readonly inputDiff?: Readonly<Record<string, unknown>> };
  /** The engine's operations. */
  readonly steps?: readonly string[];
  readonly state?: object;
}

const isStack = (urn: string) => parseUrn(urn).type === "pulumi:pulumi:Stack";

/**
 * Returns a reviewed plan with the stack's outputs as they would be now. They change nothing, and outputs that come from
 * other stacks change with these; but the engine binds them, and a run with others fails without a message.
 */
export function withOutputsOf(reviewed: SavedPlan, current: SavedPlan): SavedPlan {
  const now = (current.engine as EnginePlan).resourcePlans ?? {};
  const engine = reviewed.engine as EnginePlan;
  const plans = Object.entries(engine.resourcePlans ?? {}).map(([urn, plan]) => {
    const { goal, state } = now[urn] ?? {};
    if (!isStack(urn) || goal?.outputDiff === undefined) return [urn, plan] as const;
    return [urn, { ...plan, state, goal: { ...plan.goal, outputDiff: goal.outputDiff } }] as const;
  });
  return { ...reviewed, engine: { ...engine, resourcePlans: Object.fromEntries(plans) } };
}

/** Returns whether a plan changes outputs of the stack. */
export function changesOutputs({ engine }: SavedPlan): boolean {
  return Object.entries((engine as EnginePlan).resourcePlans ?? {}).some(
    ([urn, { goal }]) => isStack(urn) && Object.keys(goal?.outputDiff ?? {}).length > 0,
  );
}

/**
 * Returns a plan in which the steps of a group that is made, or whose machines are prepared first, are open: the run finds the
 * cluster that it has made a moment before. They are compared when the plan is used.
 */
function openJoins(engine: unknown): unknown {
  const { resourcePlans } = engine as EnginePlan;
  if (resourcePlans === undefined) return engine;
  const plans = Object.entries(resourcePlans).map(([urn, plan]) => {
    const { goal, steps = [] } = plan;
    const isGroup = parseUrn(urn).type.endsWith(":NodeGroup");
    if (!isGroup || goal?.inputDiff === undefined) return [urn, plan];
    const isMade = steps.includes("create");
    return [urn, { ...plan, goal: { ...goal, inputDiff: openSteps(goal.inputDiff, isMade) } }];
  });
  return { ...(engine as object), resourcePlans: Object.fromEntries(plans) as object };
}

/** Replaces the input `steps` in what changes of the inputs. @param all otherwise only lists with a preparation */
const openSteps = (diff: Readonly<Record<string, unknown>>, all: boolean): object =>
  Object.fromEntries(
    Object.entries(diff).map(([how, inputs]) => {
      if (!isObject(inputs) || !Array.isArray(inputs["steps"])) return [how, inputs];
      const isOpen = all || inputs["steps"].some((line) => isPreparation(String(line)));
      return [how, isOpen ? { ...inputs, steps: UNKNOWN } : inputs];
    }),
  );

/**
 * Replaces steps that say "unknown until …" with the engine's own placeholder. The engine requires a plan's values to
 * match exactly, and the run itself determines these steps; all other steps stay binding.
 */
function openUnknownSteps(engine: unknown): unknown {
  if (Array.isArray(engine)) return engine.map(openUnknownSteps);
  if (typeof engine !== "object" || engine === null) return engine;
  return Object.fromEntries(
    Object.entries(engine).map(([key, value]) => [
      key,
      key === "steps" &&
      Array.isArray(value) &&
      value.some((line) => commonSteps.parse(String(line))?.kind === "unknown")
        ? UNKNOWN
        : openUnknownSteps(value),
    ]),
  );
}
