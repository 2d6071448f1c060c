import { isDeepStrictEqual } from "node:util";

/** Returns the fields of an object that have a value. */
export function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

/** Named entries of a status or a spec, such as nodes or services. */
export type Entries = Readonly<Record<string, object>>;

/**
 * Returns the merge patch that turns one map of entries into another: null removes an entry or a field; a changed entry
 * is complete, so that messages can contain its fields. Undefined when nothing changes.
 */
export function entriesPatch(have: Entries, want: Entries): Record<string, object | null> | undefined {
  const names = [...new Set([...Object.keys(have), ...Object.keys(want)])].sort();
  const patch = names.flatMap((name): [string, object | null][] => {
    const before = Object.hasOwn(have, name) ? have[name] : undefined;
    if (!Object.hasOwn(want, name)) return [[name, null]];
    const after = withoutUndefined(want[name] ?? {});
    if (isDeepStrictEqual(before, after)) return [];
    const gone = Object.keys(before ?? {}).filter((field) => !Object.hasOwn(after, field));
    return [[name, { ...after, ...Object.fromEntries(gone.map((field) => [field, null])) }]];
  });
  return patch.length > 0 ? Object.fromEntries(patch) : undefined;
}
