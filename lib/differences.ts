import { isDeepStrictEqual } from "node:util";
import { isObject } from "./json";
import { isUnknown } from "./unknown";
import type { ConfigurationPath } from "./validation/validation-issue";

/**
 * Returns the deepest paths at which two plain values differ, in the order of the keys. An undefined key counts as
 * absent, and a value that is not known yet equals every other. Lists of different lengths differ as a whole.
 */
export function differingPaths(
  before: unknown,
  after: unknown,
  path: ConfigurationPath = [],
): ConfigurationPath[] {
  if (isUnknown(before) || isUnknown(after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => differingPaths(before[key], after[key], [...path, key]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((each, index) => differingPaths(each, after[index], [...path, index]));
  return isDeepStrictEqual(before, after) ? [] : [path];
}
