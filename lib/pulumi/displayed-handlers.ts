import { format } from "node:util";
import { displayLine, displayText } from "../text/display";
import type { Handlers } from "./handler-types";
import { leaveOutStack } from "./stack-traces";

const METHODS = ["check", "diff", "create", "read", "update", "delete"] as const;

/** What Pulumi prints of the errors that calls threw, in addition to what the engine prints of them. */
const printedTwice = new Set<string>();

/**
 * Returns handlers whose steps, refusals and errors can be displayed, whatever texts from outside they contain: the
 * engine prints all of them.
 */
export function displayed(handlers: Handlers): Handlers {
  const safe: Record<string, unknown> = { ...handlers };
  for (const name of METHODS) {
    const method = handlers[name] as ((...args: unknown[]) => Promise<unknown>) | undefined;
    if (method === undefined) continue;
    safe[name] = async (...args: unknown[]) => {
      try {
        const result = await method.apply(handlers, args);
        return name === "check" ? displayedCheck(result) : result;
      } catch (error) {
        throw displayedError(error);
      }
    };
  }
  return safe as unknown as Handlers;
}

interface Checked {
  readonly inputs?: { readonly steps?: unknown };
  readonly failures?: readonly { readonly property: string; readonly reason: string }[];
}

/** The engine prints the whole value of an input that a refusal names, so the name becomes a part of the reason. */
function displayedCheck(result: unknown): Checked {
  const { inputs, failures = [] } = result as Checked;
  const { steps } = inputs ?? {};
  return {
    inputs: Array.isArray(steps) ? { ...inputs, steps: steps.map(displayedStep) } : inputs,
    failures: failures.map(({ property, reason }) => ({
      property: "",
      reason: displayText(`${property}: ${reason}`),
    })),
  };
}

const displayedStep = (step: unknown): unknown => (typeof step === "string" ? displayLine(step) : step);

function displayedError(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  leaveOutStack(error);
  if ("reasons" in error && Array.isArray(error.reasons))
    error.reasons = error.reasons.map((reason) => displayText(String(reason)));
  printedTwice.add(`${String(error)}: ${error.stack}`);
  return error;
}

/**
 * Keeps Pulumi's dynamic provider from printing an error of a check, a diff, a read or a delete with its stack trace: it
 * returns the error to the engine, too, which prints it.
 */
export function printErrorsOnce(): void {
  const print = console.error.bind(console);
  console.error = (...words: unknown[]) => {
    if (words.length === 1 && printedTwice.delete(String(words[0]))) return;
    print(displayText(format(...words)));
  };
}
