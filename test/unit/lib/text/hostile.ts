import assert from "node:assert/strict";
import fc from "fast-check";

/** Pieces that would act on a terminal, on a CI system or in a comment. */
const PIECES = [
  ...[
    "\u001b[2J",
    "\u001b[8m",
    "\u001b]0;title\u0007",
    "\u009b31m",
    "\u001b[",
    "\u001b",
    "\u0000",
    "\b",
    "\u007f",
  ],
  ...["\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u061c", "\u3164", "\u{e0041}", "\ud800"],
  ...["\r", "\n", "\r\n", "\u2028", "\u2029", "\u0085", "\u000b", "\t"],
  ...[
    "::",
    ":",
    "::error::",
    "::add-mask::",
    "  ::set-output name=a::b",
    "##[",
    "##[error]",
    "##",
    "[error]",
  ],
  ...["##vso[task.setvariable variable=a]b", "##teamcity[x]", "section_start:1:x\r\u001b[0K"],
  ...[
    "@octocat",
    "@org/team",
    "#123",
    "GH-1",
    "org/repo#1",
    "!5",
    "https://evil.example/",
    "www.evil.example",
  ],
  ...["[text](https://evil.example)", "![](https://evil.example)", "[ref]: /x", "<img src=x>", "<!--", "-->"],
  ...[
    "</details>",
    "|",
    "\\|",
    "\\",
    "`",
    "``",
    "```",
    "~~~",
    "*",
    "_",
    "# ",
    "- ",
    "1. ",
    "> ",
    "---",
    "&#64;",
  ],
  ...["w-1", "a", " ", ": ", ", "],
];

/** Texts from outside, most of them hostile. */
export const hostileText = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 })
      .map((all) => all.join("")),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
);

const FORBIDDEN: readonly (readonly [string, RegExp])[] = [
  // eslint-disable-next-line no-control-regex
  ["a control character", /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/],
  ["a mark of direction", /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/],
  [
    "a character without width",
    /[\u00ad\u115f\u1160\u180e\u200b-\u200f\u2060-\u2064\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/u,
  ],
  ["a line break that is not one", /[\u2028\u2029\u0085]/],
  ["half of a character", /[\ud800-\udfff]/u],
  ["a command of GitHub Actions", /^\s*::/m],
  ["a command of Azure Pipelines or TeamCity", /##[a-z]*\[/i],
];

/** Fails for a text that would act on a terminal or on a CI system that has it in its log. */
export function assertInert(text: string): void {
  for (const [what, pattern] of FORBIDDEN)
    assert.doesNotMatch(text, pattern, `${what} in ${JSON.stringify(text)}`);
}

/** Fails for Markdown in which anything but code comes from outside, or that would act in a log. */
export function assertInertMarkdown(markdown: string): void {
  assertInert(markdown);
  const prose = proseOf(markdown.replace(/^<!-- foresail:[\w.-]*\/[\w.-]* -->\n/, ""));
  assert.doesNotMatch(
    prose,
    /[@<>[\]\\~`&!]|#\d|\bGH-|https?:|www\.|evil|^\s*(?:[>]|---|\* )/m,
    `outside of code: ${JSON.stringify(prose)}\nin ${JSON.stringify(markdown)}`,
  );
  for (const row of prose.split("\n").filter((line) => line.includes("|")))
    assert.equal(row.split("|").length, 5, `cells of ${row}`);
}

/** Returns Markdown without its code blocks and code spans, as CommonMark finds them. */
function proseOf(markdown: string): string {
  const prose: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split("\n")) {
    if (fence !== undefined) {
      if (new RegExp(`^ {0,3}\`{${fence.length},}\\s*$`).test(line)) fence = undefined;
      continue;
    }
    fence = /^(`{3,})[^`]*$/.exec(line)?.[1];
    // a table splits its cells before it looks for code
    if (fence === undefined)
      prose.push(line.startsWith("|") ? line.split("|").map(withoutSpans).join("|") : withoutSpans(line));
  }
  assert.equal(fence, undefined, "a code block does not end");
  return prose.join("\n");
}

function withoutSpans(line: string): string {
  let rest = line;
  let prose = "";
  for (let open = /`+/.exec(rest); open !== null; open = /`+/.exec(rest)) {
    const [ticks] = open;
    const after = rest.slice(open.index + ticks.length);
    const close = new RegExp(`(?<!\`)${ticks}(?!\`)`).exec(after);
    if (close === null) return prose + rest;
    prose += `${rest.slice(0, open.index)}code`;
    rest = after.slice(close.index + ticks.length);
  }
  return prose + rest;
}
