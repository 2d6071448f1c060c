/** Texts that differ from one request to the next: uuids, times, request ids, and other long ids with a digit. */
const IDENTIFIERS =
  /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|\b\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?|(?<=\brequest[ _-]?id["']?\s{0,2}[:=]?\s{0,2}["']?)[\w-]+|(?=[\w+/=-]{0,39}\d)[\w+/=-]{40,}/gi;

/** Returns a text without what changes when the same is said again, to compare messages of servers. */
export function withoutIds(text: string): string {
  return text.replace(IDENTIFIERS, "…");
}
