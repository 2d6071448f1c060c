/** The engine's placeholder for a value that is known only during the run. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Returns whether the value itself is unknown; parts of it may be unknown. */
export function isUnknown(value: unknown): boolean {
  return value === UNKNOWN;
}

/** Returns whether all items of a list are known; fields of an item may be unknown. */
export function isKnownList(value: unknown): boolean {
  return Array.isArray(value) && !value.some(isUnknown);
}

/** Returns whether a value and everything in it is known. */
export function isKnown(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isKnown);
  if (typeof value === "object" && value !== null) return Object.values(value).every(isKnown);
  return !isUnknown(value);
}
