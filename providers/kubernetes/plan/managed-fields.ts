/** One manager's entry in an object's managedFields. */
export interface ManagedFields {
  manager?: string;
  operation?: string;
  subresource?: string;
  fieldsV1?: unknown;
}

type Keys = readonly string[];

/** Returns whether a manager owns a field, by the keys of `fieldsV1`: ["f:metadata", "f:finalizers", 'v:"a"']. */
export function owns({ fieldsV1 }: ManagedFields, keys: Keys): boolean {
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
    .map(({ manager = "somebody" }) => manager);
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

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
