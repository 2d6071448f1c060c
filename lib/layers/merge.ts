import { isObject } from "../json";

/** Maximum nesting to which values are merged; below it, the upper value replaces the other one. */
const DEEPEST = 100;

/**
 * Merges a value over another one, as a JSON merge patch (RFC 7386) does: maps merge by key, null removes a key, and
 * every other value, lists among them, replaces. A null that removes nothing stays.
 *
 * @param over undefined changes nothing
 */
export function mergeOver(base: unknown, over: unknown, depth = 0): unknown {
  if (over === undefined) return base;
  if (!isObject(over) || depth > DEEPEST) return over;
  const below = isObject(base) ? base : {};
  const names = new Set([...Object.keys(below), ...Object.keys(over)]);
  const merged = [...names].flatMap((name): [string, unknown][] => {
    const value = Object.hasOwn(over, name) ? over[name] : undefined;
    // without anything to remove, null keeps the meaning that it has without a layer
    if (value === null) return Object.hasOwn(below, name) && below[name] !== null ? [] : [[name, null]];
    return [[name, mergeOver(Object.hasOwn(below, name) ? below[name] : undefined, value, depth + 1)]];
  });
  // not by assignment: that of `__proto__` would give the object another prototype
  return Object.fromEntries(merged);
}

/**
 * Returns whether the value at a path of a merged value comes from the upper value. A map that both have, and a field
 * that none has, belong to the upper one, where a person would write it.
 */
export function isFromOver(base: unknown, over: unknown, path: readonly (string | number)[]): boolean {
  if (over === undefined) return false;
  if (!isObject(over) || !isObject(base)) return true;
  const [key, ...rest] = path;
  if (key === undefined) return true;
  if (!Object.hasOwn(over, key)) return !Object.hasOwn(base, key);
  return !Object.hasOwn(base, key) || isFromOver(base[key], over[key], rest);
}
