/** A line longer than this is cut: no step needs it, and words of a remote side may be as long as they like. */
const LINE_LIMIT = 300;

/** A text as inline code, whatever it holds: nothing in it is markdown, a mention or a link. */
export function code(text: string): string {
  const line = oneLine(text);
  const ticks = "`".repeat(longestTicks(line) + 1);
  const space = /^`|`$/.test(line) ? " " : "";
  return `${ticks}${space}${line}${space}${ticks}`;
}

/** Lines as a block of code that none of them can end. */
export function fenced(lines: readonly string[]): string {
  const cut = lines.map((line) => shorten(line.trimEnd()));
  const fence = "`".repeat(Math.max(3, longestTicks(cut.join("\n")) + 1));
  return [`${fence}text`, ...cut, fence].join("\n");
}

/** A text on one line, cut to a length that a reader bears. */
export function oneLine(text: string): string {
  return shorten(text.replace(/\s+/g, " ").trim());
}

/** Names of resources come from configuration: in them nothing is markdown, HTML or a mention. */
export function escapeWords(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]<>()#!|@~]/g, "\\$&");
}

/** What may stand in a comment of HTML, which `--` would end. */
export function safeWord(text: string): string {
  return text
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/-{2,}/g, "-")
    .slice(0, 100);
}

function shorten(line: string): string {
  return line.length > LINE_LIMIT ? `${line.slice(0, LINE_LIMIT - 1)}…` : line;
}

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
}
