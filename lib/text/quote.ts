/** The longest part of a value that a message repeats, in characters. */
const LONGEST_VALUE = 80;
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

/** Lists names for a message: at most twelve, and the number of the others. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, LONGEST_LIST).map((name) => printable(shortened(name)));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

/** Describes which number YAML parsed from an unquoted text, since the original text, such as 1.30 or 0600, is lost. */
export function readAsNumber(value: number): string {
  const alike = /^-?\d+\.\d+$/.test(String(value)) ? ` (so is ${value}0)` : "";
  return `was read as the number ${value}${alike}`;
}
