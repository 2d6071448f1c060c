import type { ValidationIssue } from "./validation-issue";
import { quoted } from "../text/quote";

/**
 * Says which items of a list repeat an earlier one.
 * @param keyOf what must differ between the items
 * @param field the field that holds it, or undefined for the whole item
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
