import { printable, quoted, shortened } from "../text/quote";

/** Path of a value in the configuration: object keys and list indexes. */
export type ConfigurationPath = readonly (string | number)[];

/** A validation issue. The message describes the problem and the fix. */
export interface ValidationIssue {
  path: ConfigurationPath;
  message: string;
  /** Where it is in a file, behind the message. */
  where?: string;
}

/** Returns the issue of a rule that returns a message, or none. */
export function issueAt(path: ConfigurationPath, message: string | undefined): ValidationIssue[] {
  return message === undefined ? [] : [{ path, message }];
}

/** Returns the issues of a part of a value with paths of the whole. */
export function below(path: ConfigurationPath, issues: readonly ValidationIssue[]): ValidationIssue[] {
  return issues.map((issue) => ({ path: [...path, ...issue.path], message: issue.message }));
}

/** Returns the value of a field; undefined if there is none. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, key)
        ? (at as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );
}

/** Formats a path for messages: `cluster.machines[2].role`, `cluster.registries.mirrors["docker.io"]`. */
export function formatPath(path: ConfigurationPath): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      if (!/^[A-Za-z_][\w-]*$/.test(part) || part.length > 80) return `[${quoted(part)}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join("");
}

/** The number of issues listed at most: 500 wrong lines usually have few causes. */
const MOST_ISSUES = 20;
/** The maximum length of a path and of a message, in characters. */
const LONGEST_PATH = 400;
const LONGEST_MESSAGE = 1200;

/**
 * Returns one printable line for each validation issue, with its path: at most twenty, then the number of the others.
 */
export function issueLines(issues: readonly ValidationIssue[]): string[] {
  const lines = issues.map(
    ({ path, message, where = "" }) =>
      `${shortened(formatPath(path), LONGEST_PATH)}: ${printable(shortened(message, LONGEST_MESSAGE))}${where}`,
  );
  const different = [...new Set(lines)];
  const more = different.length - MOST_ISSUES;
  return more > 0 ? [...different.slice(0, MOST_ISSUES), `and ${more} more`] : different;
}

/** Returns "1 validation issue" or "3 validation issues", counted as {@link issueLines} does. */
export function issueCount(issues: readonly ValidationIssue[]): string {
  const count = new Set(issues.map(({ path, message }) => JSON.stringify([path, message]))).size;
  return count === 1 ? "1 validation issue" : `${count} validation issues`;
}

/**
 * Returns an issue for each item of a list that repeats an earlier one.
 *
 * @param keyOf returns what must differ between the items
 * @param field the field with that value, or undefined for the whole item
 */
export function duplicateIssues<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  field?: string,
): ValidationIssue[] {
  const keys = items.map(keyOf);
  const first = new Map<string, number>();
  keys.forEach((key, index) => first.has(key) || first.set(key, index));
  return keys.flatMap((key, index) =>
    first.get(key) === index
      ? []
      : issueAt(field === undefined ? [index] : [index, field], `${quoted(key)} is listed twice; remove one`),
  );
}

/** Returns the issue of an object that has not exactly one of these fields, or undefined. */
export function exactlyOneIssue(
  object: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): string | undefined {
  const set = fields.filter((field) => object[field] !== undefined);
  if (set.length === 1) return undefined;
  if (set.length === 0) return `is empty; choose one of ${fields.join(", ")}`;
  return `${set.join(" and ")} exclude each other; keep one`;
}
