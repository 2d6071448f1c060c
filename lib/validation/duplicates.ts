import type { ValidationIssue } from "./validation-issue";
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
  const seen = new Set<string>();
  return items.map(keyOf).flatMap((key, index): ValidationIssue[] => {
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [
      {
        path: field === undefined ? [index] : [index, field],
        message: `${quoted(key)} is listed twice; remove one`,
      },
    ];
  });
}
