/** The engine's mark for a value that only the run can know. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** True when a list is known item by item, although single fields of an item may not be. */
export function isKnownList(value: unknown): boolean {
  return Array.isArray(value) && !value.includes(UNKNOWN);
}

/** True when the value, with everything in it, is known. */
export function isKnown(value: unknown): boolean {
  if (value === UNKNOWN) return false;
  if (Array.isArray(value)) return value.every(isKnown);
  if (typeof value === "object" && value !== null) return Object.values(value).every(isKnown);
  return true;
}
