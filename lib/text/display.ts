import { stripVTControlCharacters } from "node:util";
import { printable, shortened } from "./quote";
import { redact } from "./redaction";

/** The longest text that is displayed, in characters; finding secrets in many megabytes takes seconds. */
const LONGEST_TEXT = 2 ** 20;

/**
 * Returns a text so that it can be displayed: on a terminal, in a log, in a CI system. Texts from clusters, clouds,
 * machines and pull requests pass it before they leave foresail. It removes secrets and terminal sequences, escapes
 * every character that is not visible (`\u{202e}`), and breaks the commands of CI systems. It changes no plain text, and
 * nothing when it is applied twice.
 */
export function displayText(text: string): string {
  return redact(stripVTControlCharacters(cut(text)))
    .split(/\r\n|[\n\r]/)
    .map(inert)
    .join("\n");
}

/** Returns the beginning of a text that is too long, with how much is left out. */
function cut(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  // the words, too, are part of what is displayed at most
  const rest = text.length - LONGEST_TEXT + 100;
  return `${shortened(text, LONGEST_TEXT - 100)} (${rest} more characters)`;
}

/** Returns a text on one line so that it can be displayed. */
export function displayLine(text: string): string {
  return displayText(text)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}

/** Returns a value as JSON that can be displayed. Programs read exactly the same value from it. */
export function displayJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
    .replace(INVISIBLE, (characters) =>
      Array.from({ length: characters.length }, (_, at) => `\\u${hex(characters.charCodeAt(at))}`).join(""),
    )
    .replace(COMMAND_ANYWHERE, "#\\u0023");
}

/**
 * Returns a line of the engine's output so that it can be displayed; keeps the engine's colors, except where they divide
 * a secret from what shows that it is one, and where there are hundreds.
 */
export function displayEngineLine(line: string): string {
  const parts = redact(cut(line)).split(COLOR);
  // each part is searched for secrets by itself, too
  if (parts.length > MOST_PARTS) return displayText(line);
  return parts.map((part, index) => (index % 2 === 1 ? part : displayText(part))).join("");
}

/** The number of parts of a line, with its colors, that keeps them. */
const MOST_PARTS = 500;

/** Bold, dim, underlined, a foreground color, and their end: nothing that hides text. */
// eslint-disable-next-line no-control-regex
const COLOR = /(\u001b\[(?:[0124]|3[1-7]|38;5;\d{1,3}|39|9[0-7])?(?:;[14])?m)/;

/** Characters that JSON.stringify leaves as they are although they are not visible. */
const INVISIBLE = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Commands that a CI system finds anywhere in a line: `##[` and `##vso[` of Azure Pipelines, `##teamcity[`. */
const COMMAND_ANYWHERE = /##(?=[a-z]*\[)/gi;

/** Commands that GitHub Actions finds at the start of a line, after blanks. */
const COMMAND_AT_START = /^(\s*):(?=:)/;

const inert = (line: string): string =>
  printable(line.replaceAll("\t", "    "))
    .replace(COMMAND_ANYWHERE, "#\\u{23}")
    .replace(COMMAND_AT_START, "$1\\u{3a}");

const hex = (unit: number): string => unit.toString(16).padStart(4, "0");
