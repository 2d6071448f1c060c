import { listed, quoted } from "../text/quote";

/** Returns the number of letters to insert, delete or replace to turn `left` into `right` (Levenshtein). */
export function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...left].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...right].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? left.length;
}

/** Limits the comparison, which takes time for each name. */
const MOST_CANDIDATES = 500;

/** Returns the known word that was most likely meant, or undefined when none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  const reach = (candidate: string) => Math.max(1, Math.floor(candidate.length / 3));
  const near = known
    .slice(0, MOST_CANDIDATES)
    // The lengths alone rule out most candidates, even for a long pasted text.
    .filter((candidate) => Math.abs(candidate.length - wanted.length) <= reach(candidate))
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= reach(candidate))
    .sort((left, right) => left.distance - right.distance);
  return near[0]?.candidate;
}

/** Returns the message for an unknown word: `is not known; did you mean "machines"?`. @param issue its beginning */
export function unknownWord(word: string, known: readonly string[], issue = "is not known"): string {
  const meant = nearest(word, known);
  if (meant !== undefined) return `${issue}; did you mean ${quoted(meant)}?`;
  if (known.length === 0) return `${issue}; nothing may be set here`;
  return `${issue}; known are ${listed(known)}`;
}
