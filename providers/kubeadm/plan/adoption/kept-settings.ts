import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../../lib/json";
import { type Json, type JsonObject, mergeObjects } from "../../../../lib/merge";

/**
 * Where a setting is in one of kubeadm's objects. The last part may name entries of a list of `{name: …}`, such as
 * extraArgs, which may have several of one name.
 */
type SettingPath = readonly (string | { name: string })[];

/** A setting that foresail wrote over an object of an adopted cluster. */
export interface WrittenSetting {
  path: SettingPath;
  /** What was there before; absent for nothing. Of a list's entries, those of the name. */
  before?: Json;
  /** Number of objects and lists on its path that were not there before. */
  made?: number;
}

interface Setting {
  path: SettingPath;
  value: Json;
}

const nameOf = (item: Json): string | undefined =>
  isObject(item) && typeof item.name === "string" ? item.name : undefined;

/** Returns the settings of an object, each with its path. Entries of a list that have names are settings of their own. */
function settingsOf(value: Json | undefined, path: SettingPath = []): Setting[] {
  if (value === undefined) return [];
  if (isObject(value))
    return Object.entries(value).flatMap(([key, child]) => settingsOf(child as Json, [...path, key]));
  if (!Array.isArray(value) || value.length === 0 || value.some((item) => nameOf(item) === undefined))
    return [{ path, value }];
  const names = [...new Set(value.map((item) => nameOf(item) ?? ""))];
  return names.map((name) => ({
    path: [...path, { name }],
    value: value.filter((item) => nameOf(item) === name),
  }));
}

/** Returns the child of a value that a part of a path names; of a list, the entries of the name. */
function childOf(value: Json | undefined, part: SettingPath[number]): Json | undefined {
  if (typeof part === "string") return isObject(value) ? value[part] : undefined;
  const items = Array.isArray(value) ? value.filter((item) => nameOf(item) === part.name) : [];
  return items.length > 0 ? items : undefined;
}

const readSetting = (object: JsonObject, path: SettingPath): Json | undefined =>
  path.reduce<Json | undefined>(childOf, object);

/** Returns how many objects and lists on a path an object does not have. */
const missingParents = (object: JsonObject, path: SettingPath): number =>
  path.slice(0, -1).filter((_part, index) => readSetting(object, path.slice(0, index + 1)) === undefined)
    .length;

/**
 * Returns a value with another setting at a path, or without it.
 *
 * @param made number of objects and lists on the path that go with their last setting
 */
function withSetting(
  value: Json | undefined,
  [part, ...rest]: SettingPath,
  next: Json | undefined,
  made: number,
): Json | undefined {
  if (part === undefined) return next;
  if (value === undefined && next === undefined) return undefined;
  const goes = rest.length < made;
  if (typeof part !== "string") {
    const list = withEntries(Array.isArray(value) ? value : [], part.name, Array.isArray(next) ? next : []);
    return list.length === 0 && next === undefined && goes ? undefined : list;
  }
  const { [part]: child, ...others } = isObject(value) ? value : {};
  const changed = withSetting(child, rest, next, made);
  if (changed !== undefined) return { ...(isObject(value) ? value : {}), [part]: changed };
  return Object.keys(others).length === 0 && goes ? undefined : others;
}

/** Replaces a list's entries of one name where the first of them is, or appends them. */
function withEntries(list: readonly Json[], name: string, entries: readonly Json[]): Json[] {
  const at = list.findIndex((item) => nameOf(item) === name);
  if (at < 0) return [...list, ...entries];
  const others = (part: readonly Json[]) => part.filter((item) => nameOf(item) !== name);
  return [...list.slice(0, at), ...entries, ...others(list.slice(at + 1))];
}

/** Returns an object as it would be without what foresail wrote: every setting has the value from before. */
export function withoutWritten(object: JsonObject, written: readonly WrittenSetting[]): JsonObject {
  return written.reduce<JsonObject>(
    (found, { path, before, made = 0 }) => (withSetting(found, path, before, made) ?? {}) as JsonObject,
    object,
  );
}

/** An object of kubeadm's with a stack's settings, and what makes them go away again. */
export interface MergedSettings {
  object: JsonObject;
  written: WrittenSetting[];
}

/**
 * Merges a stack's settings over an object that others made: what foresail wrote earlier and the stack does not have any
 * more gets its value from before, and everything else stays. A setting that the object has anyway is not recorded, so
 * it stays when the stack's goes away.
 *
 * @param written what foresail has written over the object
 */
export function mergeKept(
  object: JsonObject,
  written: readonly WrittenSetting[],
  desired: JsonObject,
): MergedSettings {
  const original = withoutWritten(object, written);
  const changes = settingsOf(desired).flatMap(({ path, value }) => {
    const before = readSetting(original, path);
    const merged = mergedValue(before, value);
    if (isDeepStrictEqual(before, merged)) return [];
    return [{ path, before, merged, made: missingParents(original, path) }];
  });
  return {
    object: changes.reduce<JsonObject>(
      (found, { path, merged }) => (withSetting(found, path, merged, 0) ?? {}) as JsonObject,
      original,
    ),
    written: changes.map(({ path, before, made }) => ({
      path,
      ...(before === undefined ? {} : { before }),
      ...(made > 0 ? { made } : {}),
    })),
  };
}

/** Merges one setting as foresail merges a user's over its own: of lists, only missing items are added. */
function mergedValue(before: Json | undefined, value: Json): Json {
  if (before === undefined) return value;
  const isNamed = Array.isArray(value) && nameOf(value[0] ?? null) !== undefined;
  // of several entries with one name, nothing says which belongs to which
  if (isNamed && (value.length > 1 || (Array.isArray(before) && before.length > 1))) return value;
  return mergeObjects({ it: before }, { it: value }).it ?? value;
}

/** Returns what has to be known to undo an interrupted change: what was written before, and what is about to be. */
export function writtenByEither(
  before: readonly WrittenSetting[],
  after: readonly WrittenSetting[],
): WrittenSetting[] {
  return [...before, ...after.filter(({ path }) => !before.some((one) => isDeepStrictEqual(one.path, path)))];
}
