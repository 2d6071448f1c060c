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

/** A line of text with placeholders. */
export interface Line<Fields> extends Part<Fields> {
  readonly parts: readonly Part<unknown>[];
}

type FieldsOf<Parts> = Parts extends readonly [Part<infer First>, ...infer Others]
  ? First & FieldsOf<Others>
  : unknown;

type Flat<Fields> = { [Name in keyof Fields]: Fields[Name] };

/**
 * Defines a line: line`${word("machine")}: join as worker of ${word("pool")}`. A line with at most one `text` has only
 * one way to be parsed.
 */
export function line<Parts extends readonly Part<unknown>[]>(
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

/** Any value that matches a regular expression, which has no capture groups. */
export const value =
  (pattern: string) =>
  <Name extends string>(field: Name): Part<Record<Name, string>> => ({
    pattern,
    field,
    format: (fields) => fields[field],
    parse: (text) => ({ [field]: text }) as Record<Name, string>,
  });

/** A name or a version: no blanks, colons or commas. */
export const word = value(WORD);

/** A value without blanks and commas. */
export const token = value("[^\\s,]+");

/** Words without a colon. */
export const phrase = value("[^:]+");

/** Any text, also from outside and on several lines. */
export const text = value("[\\s\\S]*?");

/** One of a few texts. */
export function choice<Name extends string, const Choice extends string>(
  field: Name,
  choices: readonly Choice[],
): Part<Record<Name, Choice>> {
  return value(`(?:${choices.map(escaped).join("|")})`)(field) as Part<unknown> as Part<Record<Name, Choice>>;
}

/** A whole number. */
export function number<Name extends string>(field: Name): Part<Record<Name, number>> {
  return {
    pattern: "(?:0|[1-9]\\d{0,14})",
    field,
    format: (fields) => String(fields[field]),
    parse: (text) => ({ [field]: Number(text) }) as Record<Name, number>,
  };
}

/** A whole number with its noun: `1 node`, `3 nodes`. */
export function count<Name extends string>(field: Name, noun: string): Part<Record<Name, number>> {
  return {
    pattern: `(?:1 ${noun}|(?:0|[2-9]|[1-9]\\d{1,14}) ${noun}s)`,
    field,
    format: (fields) => plural(fields[field], noun),
    parse: (text) => ({ [field]: Number.parseInt(text) }) as Record<Name, number>,
  };
}

/** Names, separated by commas. */
export function words<Name extends string>(field: Name): Part<Record<Name, readonly string[]>> {
  return {
    pattern: `(?:${WORD}(?:, ${WORD})*)?`,
    field,
    format: (fields) => fields[field].join(", "),
    parse: (text) => ({ [field]: text === "" ? [] : text.split(", ") }) as unknown as Record<Name, string[]>,
  };
}

/** Lines without commas, separated by commas; at least one. */
export function each<Name extends string, Item>(
  field: Name,
  item: Line<Item>,
): Part<Record<Name, readonly Item[]>> {
  return {
    pattern: `${item.pattern}(?:, ${item.pattern})*`,
    field,
    format: (fields) => fields[field].map((one) => item.format(one)).join(", "),
    parse: (text) => ({ [field]: text.split(", ").map((one) => item.parse(one)) }) as Record<Name, Item[]>,
  };
}

/** A text for a flag that is set, and another one for a flag that is absent. */
export function flag<Name extends string>(
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
