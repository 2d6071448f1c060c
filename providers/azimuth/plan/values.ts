import type { Json, JsonObject } from "../../../lib/merge";

/** Returns whether a value is an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

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
  const merged: JsonObject = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) {
      if (value === undefined) continue;
      const base = Object.hasOwn(merged, key) ? merged[key] : undefined;
      setOwn(merged, key, base === undefined ? value : mergeTwo(base, value));
    }
  }
  return merged;
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

/** Sets a key literally, even one such as "__proto__". */
function setOwn(target: JsonObject, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
