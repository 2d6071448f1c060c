import { appendFileSync } from "node:fs";
import { knownCause } from "../known-causes";
import { displayText } from "../text/display";

/** Variable with the file to which handlers append the codes of their failures, one per line, for `foresail up`. */
export const FAILURE_CODES = "FORESAIL_FAILURE_CODES";

/** The resource and the step in which a handler failed. */
export interface FailureContext {
  /** The resource as messages name it: "NodeGroup workers". */
  resource: string;
  /** The step that failed: "join w-2". */
  step: string;
}

interface TypedError extends Error {
  code?: string;
  next?: string;
}

const codeOf = (error: TypedError): string => error.code ?? error.constructor.name;

/** Returns the failure in one line for messages and reports: resource, step, reason code, remote text, next step. */
export function describeFailure(context: FailureContext, error: unknown): string {
  const typed = (error instanceof Error ? error : new Error(String(error))) as TypedError;
  const code = codeOf(typed);
  const next =
    knownCause(typed.message) ??
    typed.next ??
    "fix the cause, then run the same `up` again: it continues from here";
  const words = `${context.resource}: ${context.step} failed (${code}): ${typed.message}\n  next: ${next}`;
  return displayText(words);
}

/** Does work that a failed run can simply repeat. @throws Error with the described failure */
export async function explained<T>(context: FailureContext, work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw new Error(describeFailure(context, error), { cause: error });
  });
}

/**
 * An error that makes the engine save what exists, so that the next `up` updates the resource instead of creating it
 * again. Every handler throws it after its first side effect.
 */
export class PartialFailure extends Error {
  readonly reasons: string[];

  constructor(
    readonly id: string,
    readonly properties: object,
    context: FailureContext,
    cause: unknown,
  ) {
    const why = describeFailure(context, cause);
    super(why, { cause });
    this.reasons = [why];
    const file = process.env[FAILURE_CODES];
    if (file !== undefined && cause instanceof Error) appendFileSync(file, `${codeOf(cause)}\n`);
  }
}
