import { isObject } from "./json";

export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json | undefined;
}

function nameOf(value: Json): string | undefined {
  return isObject(value) && typeof value.name === "string" ? value.name : undefined;
}

/**
 * Merges lists of named entries by entry; appends the missing items of any other list. Several entries of one name, such
 * as a repeated argument, take the place of all that the base has of it.
 */
function mergeLists(base: Json[], over: Json[]): Json[] {
  let merged = [...base];
  const seen = new Set<string>();
  for (const entry of over) {
    const name = nameOf(entry);
    const isSame = (have: Json) =>
      name === undefined ? JSON.stringify(have) === JSON.stringify(entry) : nameOf(have) === name;
    const at = merged.findIndex(isSame);
    const have = merged[at];
    if (at < 0 || (name !== undefined && seen.has(name))) merged.push(entry);
    else if (isObject(have) && isObject(entry)) {
      merged[at] = mergeObjects(have, entry);
      merged = merged.filter((other, index) => index === at || !isSame(other));
    }
    if (name !== undefined) seen.add(name);
  }
  return merged;
}

/** Merges values over others, as Helm does and a JSON merge patch without null: objects by key; every other value replaces. */
export function mergeReplacing(base: JsonObject, over: JsonObject = {}): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const have = merged[key];
    merged[key] = isObject(have) && isObject(value) ? mergeReplacing(have, value) : value;
  }
  return merged;
}

/**
 * Merges a user's object over foresail's own: objects merge by key, lists of `{name: …}` entries (kubeadm's extraArgs,
 * extraVolumes) merge by name, other lists are joined without duplicates, other values are replaced. An undefined value
 * changes nothing.
 */
export function mergeObjects(base: JsonObject, over: JsonObject | undefined): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(over ?? {})) {
    const have = merged[key];
    if (value === undefined) continue;
    if (isObject(have) && isObject(value)) merged[key] = mergeObjects(have, value);
    else if (Array.isArray(have) && Array.isArray(value)) merged[key] = mergeLists(have, value);
    else merged[key] = value;
  }
  return merged;
}
