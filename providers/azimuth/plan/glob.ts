/** A part of a pattern: any text, or one character that passes a test. */
type Part = "any text" | ((character: string) => boolean);

/** The result of a match, and the number of comparisons. */
interface GlobMatch {
  matches: boolean;
  steps: number;
}

/**
 * Returns whether a text matches a shell pattern as a whole, by the rules of Python's `fnmatch.fnmatchcase`: "*" is any
 * text, "?" any character, "[seq]" one of a sequence, "[!seq]" none of it; everything else, including a backslash, is
 * literal.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  return matchGlob(pattern, text).matches;
}

/**
 * Matches as `matchesGlob` does and counts the steps: at most (parts of the pattern + 1) × (characters + 1), because
 * only the last "*" is ever extended.
 */
export function matchGlob(pattern: string, text: string): GlobMatch {
  const parts = parseGlob(pattern);
  const characters = [...text];
  let [at, part, steps] = [0, 0, 0];
  let retry: { at: number; part: number } | undefined;
  for (;;) {
    steps += 1;
    const current = parts[part];
    const character = characters[at];
    if (current === "any text") {
      part += 1;
      retry = { at, part };
    } else if (character === undefined) {
      return { matches: current === undefined, steps };
    } else if (current?.(character)) {
      at += 1;
      part += 1;
    } else if (retry) {
      retry.at += 1;
      ({ at, part } = retry);
    } else return { matches: false, steps };
  }
}

/** Returns the parts of a pattern; adjacent "*" are one. */
function parseGlob(pattern: string): Part[] {
  const characters = [...pattern];
  const parts: Part[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    const end = character === "[" ? endOfSequence(characters, index + 1) : -1;
    if (character === "*") {
      if (parts.at(-1) !== "any text") parts.push("any text");
    } else if (character === "?") parts.push(() => true);
    else if (end === -1) parts.push((found) => found === character);
    else {
      parts.push(parseSequence(characters.slice(index + 1, end)));
      index = end;
    }
  }
  return parts;
}

/** Returns the index of a sequence's "]", or -1; a leading "]" is part of the sequence. */
function endOfSequence(characters: readonly string[], start: number): number {
  const first = characters[start] === "!" ? start + 1 : start;
  return characters.indexOf("]", characters[first] === "]" ? first + 1 : first);
}

/**
 * Returns a test for one of the characters and ranges "a-z" of a sequence, or none of them after "!"; a reversed range
 * is empty.
 */
function parseSequence(sequence: readonly string[]): (character: string) => boolean {
  const isNegated = sequence[0] === "!";
  const listed = isNegated ? sequence.slice(1) : sequence;
  const ranges: [string, string][] = [];
  for (let index = 0; index < listed.length; index++) {
    const [from = "", dash, to] = listed.slice(index, index + 3);
    const isRange = dash === "-" && to !== undefined;
    ranges.push([from, isRange ? to : from]);
    if (isRange) index += 2;
  }
  const order = (character: string): number => character.codePointAt(0) ?? 0;
  return (character) =>
    isNegated !==
    ranges.some(([from, to]) => order(from) <= order(character) && order(character) <= order(to));
}
