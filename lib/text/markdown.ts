import { displayLine, displayText } from "./display";
import { shortened } from "./quote";

/** Longer lines are cut: no step needs more, and remote messages can have any length. */
const LINE_LIMIT = 300;

/**
 * Returns a text from outside as inline code: nothing in it is Markdown, HTML, a mention, a reference to an issue or a
 * link, which GitHub and GitLab also find behind backslashes. It does not end the cell of a table.
 */
export function code(text: string): string {
  const line = shortened(displayLine(text), LINE_LIMIT).replaceAll("|", "\\u{7c}");
  const ticks = "`".repeat(longestTicks(line) + 1);
  // a blank on both sides is not shown
  const space = line === "" || /^[`\s]|[`\s]$/.test(line) ? " " : "";
  return `${ticks}${space}${line}${space}${ticks}`;
}

/** Returns lines from outside as a code block that none of them can end. */
export function fenced(lines: readonly string[]): string {
  const cut = lines
    .flatMap((line) => displayText(line).split("\n"))
    .map((line) => shortened(line.trimEnd(), LINE_LIMIT));
  const fence = "`".repeat(Math.max(3, longestTicks(cut.join("\n")) + 1));
  return [`${fence}text`, ...cut, fence].join("\n");
}

/** Returns a text that is safe in an HTML comment, which `--` would end. */
export function commentWord(text: string): string {
  return text
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/-{2,}/g, "-")
    .slice(0, 100);
}

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
}
