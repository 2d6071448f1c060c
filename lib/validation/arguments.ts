import { quoted } from "../text/quote";
import { SECONDS, wholeNumberIssue, type Limits } from "./numbers";
import { type ConfigurationPath, issueAt, type ValidationIssue } from "./validation-issue";

/*
 * Arguments of a component. The compiler checks their types only for programs in TypeScript without casts, so these
 * functions accept any value.
 */

/** Returns the issue of a required text by its rule. */
export function textAt(
  path: ConfigurationPath,
  value: unknown,
  rule: (text: string) => string | undefined,
): ValidationIssue[] {
  if (typeof value === "string") return issueAt(path, rule(value));
  return issueAt(path, value === undefined ? "is missing; write a text" : "is not a text; write one");
}

/** Returns the issue of a text by its rule; none for an absent one. */
export function optionalTextAt(...[path, value, rule]: Parameters<typeof textAt>): ValidationIssue[] {
  return value === undefined ? [] : textAt(path, value, rule);
}

/** Returns a rule for a text that is one of these. */
export function oneOf(choices: readonly string[]): (text: string) => string | undefined {
  const fix = `write one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`;
  return (text) => (choices.includes(text) ? undefined : `is the text ${quoted(text)}; ${fix}`);
}

/** Returns the issue of a whole number; none for an absent one. */
export function wholeNumberAt(path: ConfigurationPath, value: unknown, limits: Limits): ValidationIssue[] {
  if (value === undefined) return [];
  const issue = typeof value === "number" ? wholeNumberIssue(value, limits) : "is not a number; write one";
  return issueAt(path, issue);
}

/** Returns the issues of the whole numbers in these fields of an object; absent ones have none. */
export function wholeNumbersIn(values: object, limits: Readonly<Record<string, Limits>>): ValidationIssue[] {
  return Object.entries(limits).flatMap(([field, range]) =>
    wholeNumberAt([field], (values as Record<string, unknown>)[field], range),
  );
}

/** Returns the issues of deadlines in seconds. @param defaults has every deadline's name */
export function deadlineIssues(timeouts: object, defaults: object): ValidationIssue[] {
  return wholeNumbersIn(timeouts, Object.fromEntries(Object.keys(defaults).map((field) => [field, SECONDS])));
}
