/** The longest part of a value that a message repeats, in characters. */
const LONGEST_VALUE = 80;
/** The longest sentence in a list, in characters. */
const LONGEST_SENTENCE = 600;
/** The number of names that a message lists at most. */
const LONGEST_LIST = 12;

/** Returns whether a text contains a private key, as PEM or as base64 of PEM. */
export function hasPrivateKey(text: string): boolean {
  if (text.includes("PRIVATE KEY-----")) return true;
  return [...text.matchAll(/LS0tLS1CRUdJTi[A-Za-z0-9+/=]{0,60}/g)].some(([found]) =>
    Buffer.from(found, "base64").toString("latin1").includes("PRIVATE KEY"),
  );
}

/**
 * Escapes characters that a terminal would not print: control characters, marks of direction, characters without width,
 * unpaired surrogates.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Returns the beginning of a text, cut between characters, with an ellipsis when something is left out. */
export function shortened(text: string, longest = LONGEST_VALUE): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Returns whether a text contains a key, or a user and password before a host; no message repeats it. */
function looksSecret(text: string): boolean {
  return text.includes("PRIVATE KEY") || hasPrivateKey(text) || /:[^\s:/@]*@|:\/\/[^\s/]*@/.test(text);
}

/**
 * Quotes a value for a message: JSON of at most 80 characters, all printable; "the value" when it looks like a secret.
 * Never pass values of secret keys.
 */
export function quoted(value = ""): string {
  return looksSecret(value) ? "the value" : printable(JSON.stringify(shortened(value)));
}

interface ListOptions {
  /** how many entries are shown; default: twelve */
  readonly most?: number;
  /** how many characters of an entry are shown; default: 80, enough for a name */
  readonly longest?: number;
  /** default: ", " */
  readonly separator?: string;
}

/** Lists names or other short texts for a message: the first of them, and the number of the others. */
export function listed(
  texts: readonly string[],
  { most = LONGEST_LIST, longest = LONGEST_VALUE, separator = ", " }: ListOptions = {},
): string {
  return cutList(
    texts.map((text) => printable(shortened(text, longest))),
    separator,
    most,
  );
}

/** Joins the first texts of a list, twelve by default, and the number of the others. */
export function cutList(texts: readonly string[], separator: string, most = LONGEST_LIST): string {
  const more = texts.length - most;
  return texts.slice(0, most).join(separator) + (more > 0 ? ` and ${more} more` : "");
}

/** Lists sentences for a message, of which each has a reason and a fix. */
export const listedSentences = (sentences: readonly string[], separator = "; "): string =>
  listed(sentences, { longest: LONGEST_SENTENCE, separator });

/** Describes which number YAML parsed from an unquoted text, since the original text, such as 1.30 or 0600, is lost. */
export function readAsNumber(value: number): string {
  const alike = /^-?\d+\.\d+$/.test(String(value)) ? ` (so is ${value}0)` : "";
  return `was read as the number ${value}${alike}`;
}
