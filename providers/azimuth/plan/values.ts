import { isObject } from "../../../lib/json";
import type { Json, JsonObject } from "../../../lib/merge";

/** Merges two values of one key. */
function mergeTwo(base: Json, over: Json): Json {
  if (isObject(base) && isObject(over)) return mergeValues(base, over);
  if (Array.isArray(base) && Array.isArray(over)) return [...base, ...over];
  return over ?? base;
}

/**
 * Merges Helm values from left to right, as azimuth-capi-operator does: objects merge key by key, lists are
 * concatenated, every other value is replaced. Null replaces nothing; for a key that no earlier layer has it stays, and
 * Helm then removes the chart's default. Changes no argument.
 */
export function mergeValues(...layers: readonly (JsonObject | undefined)[]): JsonObject {
  // a map takes even a key such as "__proto__" literally
  const merged = new Map<string, Json>();
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) {
      const base = merged.get(key);
      if (value !== undefined) merged.set(key, base === undefined ? value : mergeTwo(base, value));
    }
  }
  return Object.fromEntries(merged);
}

/** Returns whether a value contains a null. */
export function hasNull(value: unknown): boolean {
  if (typeof value !== "object") return false;
  return value === null || Object.values(value).some(hasNull);
}

/**
 * Returns the keys of each null, from the top; Helm removes the chart's default there. A list replaces the chart's as a
 * whole, so a null in one removes nothing.
 */
export function nullPaths(value: unknown, keys: readonly string[] = []): string[][] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, entry]) =>
    entry === null ? [[...keys, key]] : nullPaths(entry, [...keys, key]),
  );
}
