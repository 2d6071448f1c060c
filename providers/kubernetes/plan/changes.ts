import { isDeepStrictEqual } from "node:util";

/** Returns the paths at which two values differ, such as "spec.replicas"; without values, because some are secret. */
export function changedPaths(before: unknown, after: unknown, path = ""): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isMap(before) || !isMap(after)) return [path === "" ? "the whole" : path];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => changedPaths(before[key], after[key], join(path, key)));
}

function join(path: string, key: string): string {
  if (/[.[\]/]/.test(key)) return `${path}["${key}"]`;
  return path === "" ? key : `${path}.${key}`;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
