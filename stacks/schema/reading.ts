import type { ValidationIssue } from "../../lib/validation/validation-issue";
import type { KeyName } from "./keys";

/** Returns the string value of a key in the stack file. */
export type RawKeys = (key: KeyName) => string | undefined;

/** Value and validation issues of configuration keys. */
export interface Reading<Value> {
  value: Value | undefined;
  mistakes: ValidationIssue[];
}

/**
 * Parses a value, because the engine passes objects as JSON. Returns other values as strings, for the rules to
 * refuse.
 */
export function json(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}

/** Returns the issue of a missing required key. @param example file or folder with a complete example */
export function missing(key: KeyName, example: string): ValidationIssue {
  return { path: [key], message: `is missing; ${example} shows a whole one` };
}
