/** Longer lines are cut: no step needs more, and remote messages can have any length. */
const LINE_LIMIT = 300;

/** Returns a text as inline code, so that nothing in it is markdown, a mention or a link. */
export function code(text: string): string {
  const line = oneLine(text);
  const ticks = "`".repeat(longestTicks(line) + 1);
  const space = /^`|`$/.test(line) ? " " : "";
  return `${ticks}${space}${line}${space}${ticks}`;
}

/** Returns lines as a code block that none of them can end. */
export function fenced(lines: readonly string[]): string {
  const cut = lines.map((line) => shorten(line.trimEnd()));
  const fence = "`".repeat(Math.max(3, longestTicks(cut.join("\n")) + 1));
  return [`${fence}text`, ...cut, fence].join("\n");
}

/** Returns a text on one line, cut to a readable length. */
export function oneLine(text: string): string {
  return shorten(text.replace(/\s+/g, " ").trim());
}

/** Escapes a resource name from the configuration, so that nothing in it is markdown, HTML or a mention. */
export function escapeWords(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]<>()#!|@~]/g, "\\$&");
}

/** Returns a text that is safe in an HTML comment, which `--` would end. */
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
