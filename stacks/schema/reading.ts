import type { ValidationIssue } from "../../lib/validation/validation-issue";
import type { KeyName } from "./keys";

/** The text of a key as the stack file has it. */
export type RawKeys = (key: KeyName) => string | undefined;

/** What a system's own keys say. */
export interface Reading<Value> {
  value: Value | undefined;
  mistakes: ValidationIssue[];
}

/** The engine hands objects over as JSON; what is no JSON is a text, which the rules refuse in their own words. */
export function json(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}

/** A key that a system needs is not there. @param example the file or folder that shows a whole one */
export function missing(key: KeyName, example: string): ValidationIssue {
  return { path: [key], message: `is missing; ${example} shows a whole one` };
}
