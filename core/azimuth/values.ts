import type { Json, JsonObject } from "../merge";

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Two values of one key. */
function mergeTwo(base: Json | undefined, over: Json | undefined): Json | undefined {
  // a field that is there without a value is no wish
  if (over === undefined || over === null) return base;
  if (isObject(base) && isObject(over)) return mergeValues(base, over);
  if (Array.isArray(base) && Array.isArray(over)) return [...base, ...over];
  return over;
}

/**
 * Merges Helm values from left to right, as azimuth-capi-operator does: maps merge key by key, lists are put one after
 * the other, null never overrides anything, every other value is replaced. No argument is changed.
 */
export function mergeValues(...layers: readonly (JsonObject | undefined)[]): JsonObject {
  const merged: JsonObject = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) {
      const next = mergeTwo(Object.hasOwn(merged, key) ? merged[key] : undefined, value);
      if (next !== undefined) setOwn(merged, key, next);
    }
  }
  return merged;
}

/** Also a key such as "__proto__" is only a key. */
function setOwn(target: JsonObject, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
