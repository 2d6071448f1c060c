import { below, type ConfigurationPath, formatPath, type ValidationIssue, valueAt } from "./validation-issue";

/**
 * Old names of fields: path → current path, such as "pools[].size" → "pools[].replicas". `[]` stands for each item of a
 * list, and both paths have the same ones. Later entries see what the earlier ones renamed.
 */
export type Renames = Readonly<Record<string, string>>;

/** A value whose fields have their current names. */
export interface Renamed {
  value: unknown;
  /** Fields that are given by both names; the path is the old one. */
  issues: ValidationIssue[];
  /** Fields that are given by their old names, with the current ones. */
  deprecations: ValidationIssue[];
  /** Returns the path of a field as it was written. */
  written: (path: ConfigurationPath) => ConfigurationPath;
}

/**
 * Gives the fields of a value their current names.
 *
 * @param root path of the value, which is the prefix of all paths
 */
export function renameFields(value: unknown, renames: Renames, root: ConfigurationPath = []): Renamed {
  const moved: [old: ConfigurationPath, current: ConfigurationPath][] = [];
  const written = (path: ConfigurationPath) =>
    [...moved]
      .reverse()
      .reduce<ConfigurationPath>(
        (at, [old, current]) =>
          current.every((part, index) => at[index] === part) ? [...old, ...at.slice(current.length)] : at,
        path,
      );
  const issues: ValidationIssue[] = [];
  const deprecations: ValidationIssue[] = [];
  let renamed = value;
  for (const [from, to] of Object.entries(renames))
    for (const old of pathsOf(renamed, segments(from))) {
      const indexes = old.filter((part) => typeof part === "number");
      const current = segments(to).map((part) => (part === EACH ? (indexes.shift() ?? 0) : part));
      const parent = valueAt(renamed, current.slice(0, -1)) ?? {};
      // An old name whose new parent is not an object is refused as unknown, beside the parent.
      if (typeof parent !== "object" || Array.isArray(parent)) continue;
      const name = formatPath([...root, ...current]);
      const path = written(old);
      const both = valueAt(renamed, current) !== undefined;
      if (both) issues.push({ path, message: `is the old name of ${name}, which is given, too; remove one` });
      else deprecations.push({ path, message: `is deprecated; write ${name}` });
      const moving = valueAt(renamed, old);
      renamed = replaced(renamed, old, undefined);
      if (!both) renamed = replaced(renamed, current, moving);
      moved.push([old, current]);
    }
  return {
    value: renamed,
    issues: below(root, issues),
    deprecations: below(root, deprecations),
    written: (path) =>
      root.every((part, index) => path[index] === part)
        ? [...root, ...written(path.slice(root.length))]
        : path,
  };
}

const EACH = "[]";

const segments = (path: string): string[] =>
  path.split(".").flatMap((part) => (part.endsWith(EACH) ? [part.slice(0, -EACH.length), EACH] : [part]));

/** Returns the paths of the fields that a pattern describes, if they have a value. */
function pathsOf(value: unknown, [key, ...rest]: readonly string[]): ConfigurationPath[] {
  if (key === undefined) return [[]];
  if (key === EACH)
    return Array.isArray(value)
      ? value.flatMap((item, index) => pathsOf(item, rest).map((path) => [index, ...path]))
      : [];
  const field = valueAt(value, [key]);
  return field === undefined ? [] : pathsOf(field, rest).map((path) => [key, ...path]);
}

/** Returns the renames of a value that is a field of another one. */
export const renamesBelow = (field: string, renames: Renames): Renames =>
  Object.fromEntries(Object.entries(renames).map(([from, to]) => [`${field}.${from}`, `${field}.${to}`]));

/** Returns a copy of a value with another one at a path; undefined removes the field. */
function replaced(value: unknown, [key, ...rest]: ConfigurationPath, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? replaced(item, rest, by) : (item as unknown)));
  const { [key]: before, ...others } = (value ?? {}) as Record<string | number, unknown>;
  const after = replaced(before, rest, by);
  return after === undefined ? others : { ...others, [key]: after };
}
