import type { Mistake } from "./mistake";

/**
 * Says which items of a list repeat an earlier one.
 * @param keyOf what must differ between the items
 * @param field the field that holds it, or undefined for the whole item
 */
export function duplicateMistakes<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  field?: string,
): Mistake[] {
  const keys = items.map(keyOf);
  return keys.flatMap((key, index): Mistake[] => {
    if (keys.indexOf(key) === index) return [];
    return [
      {
        path: field === undefined ? [index] : [index, field],
        message: `"${key}" is listed twice; remove one`,
      },
    ];
  });
}
