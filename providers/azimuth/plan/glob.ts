/** "*", "?", a sequence, or one character. A sequence's optional "!" and leading "]" belong to it (`\1` is atomic). */
const PARTS = /\*+|\?|\[(?=(!?\]?[^\]]*))\1\]|[^]/gu;

/**
 * Returns whether a text matches a shell pattern as a whole, by the rules of Python's `fnmatch.fnmatchcase`: "*" is any
 * text, "?" any character, "[seq]" one of a sequence, "[!seq]" none of it; everything else, including a backslash, is
 * literal.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = "", ...rest] = partsBetweenStars(pattern);
  const last = rest.pop();
  // what follows a "*" is taken where it is found first (an atomic group), so only the last "*" is ever extended
  const middle = rest.map((part, index) => `(?=([^]*?${part}))\\${index + 1}`).join("");
  return new RegExp(`^${first}${middle}${last === undefined ? "" : `[^]*${last}`}$`, "u").test(text);
}

/** Returns regular expressions of what is before, between and after the stars of a pattern. */
function partsBetweenStars(pattern: string): string[] {
  const parts = [""];
  for (const [part] of pattern.matchAll(PARTS)) {
    if (part.startsWith("*")) parts.push("");
    else parts.push((parts.pop() ?? "") + expressionOf(part));
  }
  return parts;
}

function expressionOf(part: string): string {
  if (part === "?") return "[^]";
  if (part.length < 3 || !part.startsWith("[")) return literal(part);
  const isNegated = part.startsWith("[!");
  const ranges = part.slice(isNegated ? 2 : 1, -1).match(/[^]-[^]|[^]/gu) ?? [];
  return `[${isNegated ? "^" : ""}${ranges.map(rangeOf).join("")}]`;
}

/** Returns a range of a sequence, such as "a-z", or a character; a reversed range is empty. */
function rangeOf(range: string): string {
  const [from = "", dash, to] = range;
  if (dash !== "-" || to === undefined) return literal(range);
  return (from.codePointAt(0) ?? 0) > (to.codePointAt(0) ?? 0) ? "" : `${literal(from)}-${literal(to)}`;
}

const literal = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
