import { issueAt, type ValidationIssue } from "./validation-issue";
import { quoted } from "../text/quote";

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
