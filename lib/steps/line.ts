import { plural } from "../text/plural";

/**
 * A placeholder: how its fields become text, and how that text becomes the same fields again. A line's formatter and
 * its parser both come from its placeholders, so they can't disagree.
 */
export interface Part<Fields> {
  /** A regular expression without capture groups that matches every value. */
  readonly pattern: string;
  /** The field that the placeholder needs; undefined when it needs none. */
  readonly field?: string;
  format(fields: Fields): string;
  /** Returns undefined for a text that does not match the pattern. */
  parse(text: string): Fields | undefined;
}

export interface Line<Fields> extends Part<Fields> {
  readonly parts: readonly Part<unknown>[];
}

type FieldsOf<Parts> = Parts extends readonly [Part<infer First>, ...infer Others]
  ? First & FieldsOf<Others>
  : unknown;

type Flat<Fields> = { [Name in keyof Fields]: Fields[Name] };

/**
 * Defines a line: stepLine`${word("machine")}: join as worker of ${word("pool")}`. A line with at most one `prose` has only
 * one way to be parsed.
 */
export function stepLine<Parts extends readonly Part<unknown>[]>(
  words: TemplateStringsArray,
  ...parts: Parts
): Line<Flat<FieldsOf<Parts>>> {
  type Fields = Flat<FieldsOf<Parts>>;
  const between = (texts: readonly string[], literals: readonly string[]) =>
    literals.map((literal, at) => literal + (texts[at] ?? "")).join("");
  const literals = words.map(escaped);
  const patterns = parts.map(({ pattern }) => pattern);
  const whole = new RegExp(
    `^${between(
      patterns.map((pattern) => `(${pattern})`),
      literals,
    )}$`,
  );
  return {
    parts,
    pattern: `(?:${between(patterns, literals)})`,
    format: (fields) =>
      between(
        parts.map((part) => part.format(fields)),
        words,
      ),
    parse(text) {
      const found = whole.exec(text);
      if (found === null) return undefined;
      return Object.assign({}, ...parts.map((part, at) => part.parse(found[at + 1] ?? ""))) as Fields;
    },
  };
}

/** Escapes what has a meaning in a regular expression. */
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

const WORD = "[^\\s:,]+";

/** Defines a placeholder by the pattern, the formatter and the parser of its value. */
const placeholder =
  <Value>(pattern: string, format: (value: Value) => string, parse: (text: string) => Value) =>
  <Name extends string>(field: Name): Part<Record<Name, Value>> => ({
    pattern,
    field,
    format: (fields) => format(fields[field]),
    parse: (text) => ({ [field]: parse(text) }) as Record<Name, Value>,
  });

/** Any text that matches a regular expression, which has no capture groups. */
export const value = (pattern: string) => placeholder<string>(pattern, String, String);

/** A name or a version: no blanks, colons or commas. */
export const word = value(WORD);

/** A value without blanks and commas. */
export const token = value("[^\\s,]+");

/** Words without a colon. */
export const phrase = value("[^:]+");

/** Any text, also from outside and on several lines. */
export const prose = value("[\\s\\S]*?");

/** Absolute paths, separated by commas. */
export const paths = value("/[\\s\\S]*?");

export const number = placeholder("(?:0|[1-9]\\d{0,14})", String, Number);

/** Names, separated by commas. */
export const words = placeholder<readonly string[]>(
  `(?:${WORD}(?:, ${WORD})*)?`,
  (names) => names.join(", "),
  (text) => (text === "" ? [] : text.split(", ")),
);

/** A whole number with its noun: `1 node`, `3 nodes`. */
export const count = <Name extends string>(field: Name, noun: string) =>
  placeholder<number>(
    `(?:1 ${noun}|(?:0|[2-9]|[1-9]\\d{1,14}) ${noun}s)`,
    (amount) => plural(amount, noun),
    (text) => Number.parseInt(text),
  )(field);

/** One of a few texts. */
export const choice = <Name extends string, const Choice extends string>(
  field: Name,
  choices: readonly Choice[],
) => placeholder<Choice>(`(?:${choices.map(escaped).join("|")})`, String, (text) => text as Choice)(field);

/** Lines without commas, separated by commas; at least one. */
export const each = <Name extends string, Item>(field: Name, item: Line<Item>) =>
  placeholder<readonly Item[]>(
    `${item.pattern}(?:, ${item.pattern})*`,
    (items) => items.map((one) => item.format(one)).join(", "),
    (text) => text.split(", ").map((one) => item.parse(one) as Item),
  )(field);

/** A text for a flag that is set, and another one for a flag that is absent. */
export function whether<Name extends string>(
  field: Name,
  set: string,
  absent = "",
): Part<Partial<Record<Name, true>>> {
  return {
    pattern: `(?:${escaped(set)}|${escaped(absent)})`,
    format: (fields) => (fields[field] === true ? set : absent),
    parse: (text) => (text === set ? { [field]: true } : {}) as Partial<Record<Name, true>>,
  };
}

/** A line that is left out when its fields are absent. */
export function optional<Fields extends object>(inner: Line<Fields>): Part<Partial<Fields>> {
  const isPresent = (fields: Partial<Fields>): fields is Fields =>
    inner.parts.every(({ field }) => field === undefined || fields[field as keyof Fields] !== undefined);
  return {
    pattern: `${inner.pattern}?`,
    format: (fields) => (isPresent(fields) ? inner.format(fields) : ""),
    parse: (text) => (text === "" ? {} : inner.parse(text)),
  };
}
