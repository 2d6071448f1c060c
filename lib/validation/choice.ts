/** Returns the issue when not exactly one of the fields is set, or undefined. `fields` are the names of the choices. */
export function exactlyOneIssue(
  object: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): string | undefined {
  const set = fields.filter((field) => object[field] !== undefined);
  if (set.length === 1) return undefined;
  if (set.length === 0) return `is empty; choose one of ${fields.join(", ")}`;
  return `${set.join(" and ")} exclude each other; keep one`;
}
