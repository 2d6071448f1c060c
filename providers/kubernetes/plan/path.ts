/** The path of a field in an object: "status.clientId", `metadata.annotations["example.org/size"]`. */
export type FieldPath = string;

const PART = /\[(?:"([^"]*)"|(\d+))\]|([^.[\]]+)/g;

/** Returns the keys of a path, outermost first. */
function pathKeys(path: FieldPath): string[] {
  return [...path.matchAll(PART)].map(([, quoted, index, word]) => quoted ?? index ?? word ?? "");
}

/** Returns the value at a path; undefined when there is none. */
export function valueAt(object: unknown, path: FieldPath): unknown {
  let value = object;
  for (const key of pathKeys(path)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Returns a copy of the object with another value at a path; undefined removes the field. */
export function withValue<O extends object>(object: O, path: FieldPath, value: unknown): O {
  return value === undefined ? without(object, path) : (put(object, pathKeys(path), value) as O);
}

/** Returns a copy of the object without the field at a path. */
export function without<O extends object>(object: O, path: FieldPath): O {
  return remove(object, pathKeys(path)) as O;
}

function remove(value: unknown, [key, ...rest]: string[]): unknown {
  if (key === undefined || typeof value !== "object" || value === null || !Object.hasOwn(value, key))
    return value;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
  if (rest.length === 0) delete copy[key];
  else copy[key] = remove(copy[key], rest);
  return copy;
}

function put(object: unknown, [key, ...rest]: string[], value: unknown): unknown {
  if (key === undefined) return value;
  const inside = typeof object === "object" && object !== null ? object : {};
  const copy = (Array.isArray(inside) ? [...(inside as unknown[])] : { ...inside }) as Record<
    string,
    unknown
  >;
  copy[key] = put(copy[key], rest, value);
  return copy;
}
