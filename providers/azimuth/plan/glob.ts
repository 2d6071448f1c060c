/** A part of a pattern: any text, or one character that passes a test. */
type Part = "any text" | ((character: string) => boolean);

/** What a match found, and how many comparisons it took. */
interface GlobMatch {
  matches: boolean;
  steps: number;
}

/**
 * Whether a text matches a shell pattern as a whole, by the rules of Python's `fnmatch.fnmatchcase`: "*" is any text,
 * "?" any character, "[seq]" one of a sequence, "[!seq]" none of it; everything else, a backslash included, is itself.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  return matchGlob(pattern, text).matches;
}

/**
 * As `matchesGlob`, with the number of steps: at most (parts of the pattern + 1) × (characters + 1), for only the last
 * "*" that was met is ever given more text.
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

/** The parts of a pattern; neighbouring "*" are one. */
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

/** Where the "]" of a sequence is, or -1; one that comes first is part of the sequence. */
function endOfSequence(characters: readonly string[], start: number): number {
  const first = characters[start] === "!" ? start + 1 : start;
  return characters.indexOf("]", characters[first] === "]" ? first + 1 : first);
}

/** One of the characters and ranges "a-z" of a sequence, or none of them after "!"; a range that runs backwards is empty. */
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
