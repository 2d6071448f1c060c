import { isDeepStrictEqual } from "node:util";
import { UNKNOWN } from "./unknown";
import type { ConfigurationPath } from "./validation/validation-issue";

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Where two plain values differ: the deepest paths, in the order of the keys. A key that is undefined counts as absent, and
 * a value that is not known yet as equal to every other. Lists of another length differ as a whole.
 */
export function differingPaths(
  before: unknown,
  after: unknown,
  path: ConfigurationPath = [],
): ConfigurationPath[] {
  if (before === UNKNOWN || after === UNKNOWN) return [];
  if (isMap(before) && isMap(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => differingPaths(before[key], after[key], [...path, key]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((each, index) => differingPaths(each, after[index], [...path, index]));
  return isDeepStrictEqual(before, after) ? [] : [path];
}
