import { redact } from "../text/redaction";

/** Where and why a handler stopped. */
export interface FailureContext {
  /** Resource as a person knows it: "NodeGroup workers". */
  resource: string;
  /** Phase of the work: "join w-2". */
  step: string;
}

interface TypedError extends Error {
  code?: string;
  next?: string;
}

/** One line for people and reports: resource, step, reason code, the remote words, what to do next. */
export function describeFailure(context: FailureContext, error: unknown): string {
  const typed = (error instanceof Error ? error : new Error(String(error))) as TypedError;
  const code = typed.code ?? typed.constructor.name;
  const next = typed.next ?? "mend the cause, then run the same `up` again: it goes on from here";
  return redact(`${context.resource}: ${context.step} failed (${code}): ${typed.message}\n  next: ${next}`);
}

/**
 * The error that makes the engine save what exists, so that the next `up` updates instead of creating anew.
 * Thrown by every handler after its first side effect.
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
  }
}
