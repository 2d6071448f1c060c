/** Names one field of an object: "status.clientId", `metadata.annotations["example.org/size"]`. */
export type FieldPath = string;

const PART = /\[(?:"([^"]*)"|(\d+))\]|([^.[\]]+)/g;

/** The keys of a path, outermost first. */
function pathKeys(path: FieldPath): string[] {
  return [...path.matchAll(PART)].map(([, quoted, index, word]) => quoted ?? index ?? word ?? "");
}

/** The value at a path; undefined where there is none. */
export function valueAt(object: unknown, path: FieldPath): unknown {
  let value = object;
  for (const key of pathKeys(path)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The object with another value at a path; undefined takes the field away. The object itself is left as it is. */
export function withValue<O extends object>(object: O, path: FieldPath, value: unknown): O {
  return value === undefined ? without(object, path) : (put(object, pathKeys(path), value) as O);
}

/** The object without the field at a path; the object itself is left as it is. */
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
