import { UNKNOWN } from "../lib/unknown";

/**
 * Returns the plain form of a resource's values, which a policy pack gets as objects that throw when something unknown
 * is read. What is unknown becomes UNKNOWN.
 */
export function knownValues(values: Record<string, unknown>): Record<string, unknown> {
  return plain(() => values) as Record<string, unknown>;
}

function plain(read: () => unknown): unknown {
  let value: unknown;
  try {
    value = read();
  } catch {
    return UNKNOWN;
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  const entries = Object.keys(fields).map((key) => [key, plain(() => fields[key])] as const);
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}
