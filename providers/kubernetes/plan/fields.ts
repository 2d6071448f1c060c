import { isDeepStrictEqual } from "node:util";
import { apiGroupOf } from "./identity";

/** The path of a field in an object: "status.clientId", `metadata.annotations["example.org/size"]`. */
export type FieldPath = string;

const PART = /\[(?:"([^"]*)"|(\d+))\]|([^.[\]]+)/g;

/** Returns the keys of a path, outermost first. */
function pathKeys(path: FieldPath): string[] {
  return [...path.matchAll(PART)].map(([, quoted, index, word]) => quoted ?? index ?? word ?? "");
}

/** Returns the value at a path; undefined when there is none. */
export function fieldAt(object: unknown, path: FieldPath): unknown {
  let value = object;
  for (const key of pathKeys(path)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Returns a copy of the object with another value at a path; undefined removes the field. */
export function withValue<O extends object>(object: O, path: FieldPath, value: unknown): O {
  return put(object, pathKeys(path), value) as O;
}

/** Returns a copy of the object without the field at a path. */
export function without<O extends object>(object: O, path: FieldPath): O {
  return withValue(object, path, undefined);
}

function put(object: unknown, [key, ...rest]: string[], value: unknown): unknown {
  if (key === undefined) return value;
  const fields = (typeof object === "object" && object !== null ? object : {}) as Record<string, unknown>;
  if (value === undefined && !Object.hasOwn(fields, key)) return object;
  const copy = (Array.isArray(fields) ? [...(fields as unknown[])] : { ...fields }) as typeof fields;
  if (value === undefined && rest.length === 0) delete copy[key];
  else copy[key] = put(copy[key], rest, value);
  return copy;
}

/** One manager's entry in an object's managedFields. */
export interface ManagedFields {
  manager?: string;
  operation?: string;
  subresource?: string;
  fieldsV1?: unknown;
}

/** Returns whether a manager owns a field, by the keys of `fieldsV1`: ["f:metadata", "f:finalizers", 'v:"a"']. */
export function owns({ fieldsV1 }: ManagedFields, keys: readonly string[]): boolean {
  let fields = fieldsV1;
  for (const key of keys) {
    if (typeof fields !== "object" || fields === null || !Object.hasOwn(fields, key)) return false;
    fields = (fields as Record<string, unknown>)[key];
  }
  return true;
}

/** Returns the other managers that write to an object, except controllers that write its status. */
export function otherWriters(managedFields: readonly ManagedFields[], own: string): string[] {
  const writers = managedFields
    .filter(({ manager, subresource }) => manager !== own && subresource !== "status")
    .map(({ manager = "unknown" }) => manager);
  return [...new Set(writers)];
}

/**
 * Returns the live values of the desired fields, in the shape of the desired object: without fields that the server or
 * others add, and without missing fields. A list is compared as a whole, unless its entries have names in both; then by
 * name.
 */
export function liveOf(desired: unknown, live: unknown): unknown {
  if (Array.isArray(desired)) return Array.isArray(live) ? liveList(desired, live) : live;
  if (!isMap(desired) || !isMap(live)) return live;
  const entries = Object.entries(desired)
    .filter(([key, value]) => Object.hasOwn(live, key) || isEmpty(value))
    .map(([key, value]) => [key, Object.hasOwn(live, key) ? liveOf(value, live[key]) : value]);
  return Object.fromEntries(entries) as unknown;
}

function liveList(desired: readonly unknown[], live: readonly unknown[]): unknown[] {
  const names = desired.map(nameOf);
  if (names.includes(undefined) || desired.length === 0) return [...live];
  return names.flatMap((name, index) => {
    const found = live.find((entry) => nameOf(entry) === name);
    return found === undefined ? [] : [liveOf(desired[index], found)];
  });
}

function nameOf(entry: unknown): string | undefined {
  return isMap(entry) && typeof entry.name === "string" ? entry.name : undefined;
}

/** Returns whether a map or list is empty; the server does not store empty ones. */
function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Returns the paths at which two values differ, such as "spec.replicas"; without values, because some are secret. */
export function changedPaths(before: unknown, after: unknown, path = ""): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isMap(before) || !isMap(after)) return [path === "" ? "the whole" : path];
  if (isSameReference(before, after))
    return changedPaths(before, { ...after, apiVersion: before.apiVersion }, path);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => changedPaths(before[key], after[key], join(path, key)));
}

/**
 * Returns a copy of the desired object whose references have the API version of the live ones. A server that serves
 * several versions of an object gives a reference another version than was written; it would be a conflict with the
 * writer of that field.
 */
export function withLiveVersions<O extends object>(desired: O, live: unknown): O {
  return Object.fromEntries(
    Object.entries(desired).map(([key, value]: [string, unknown]) => {
      const found = isMap(live) ? live[key] : undefined;
      if (!isMap(value) || !isMap(found)) return [key, value];
      const inner = withLiveVersions(value, found);
      return [key, isSameReference(value, found) ? { ...inner, apiVersion: found.apiVersion } : inner];
    }),
  ) as O;
}

/** Returns whether two maps refer to the same object in different versions of its API. */
function isSameReference(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const [version, otherVersion] = [one.apiVersion, other.apiVersion];
  if (typeof version !== "string" || typeof otherVersion !== "string" || version === otherVersion)
    return false;
  const isNamed = one.name !== undefined && one.kind !== undefined;
  return (
    isNamed &&
    one.name === other.name &&
    one.kind === other.kind &&
    apiGroupOf(version) === apiGroupOf(otherVersion)
  );
}

function join(path: string, key: string): string {
  if (/[.[\]/]/.test(key)) return `${path}["${key}"]`;
  return path === "" ? key : `${path}.${key}`;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
