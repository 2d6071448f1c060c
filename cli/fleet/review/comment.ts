import { mostThatFit } from "../../../lib/text/fit";
import { code, commentWord, fenced } from "../../../lib/text/markdown";
import { plural } from "../../../lib/text/plural";
import { COMMENT_LIMIT, HEADINGS } from "../../review/markdown";
import { DANGERS } from "../../review/steps";
import { fleetDangers } from "./dangers";
import { isPlainName } from "../plan/export/exported";
import { stacksOf } from "../plan/fleet";
import { type Detail, detailsOf } from "../plan/details";
import {
  changeWords,
  type FleetReview,
  hasFailed,
  headline,
  type StackReview,
  versionWords,
} from "../plan/review";

/** A comment can't hold what must not be left out of it. */
export class CommentTooLongError extends Error {
  override readonly name = "CommentTooLongError";

  constructor(length: number, limit: number) {
    super(
      `the table and the dangerous steps alone have ${length} characters, and a comment holds ${limit}; ` +
        "review the page instead (--html FILE), or divide fleet.yaml into several files",
    );
  }
}

/** How many stacks a dangerous line names; the table has the number for each. */
const STACKS_NAMED = 12;
/** Enough digits of a plan's hash for a person, where the whole does not fit. */
const SHORT_HASH = 16;

/** How much the table leaves out: nothing; stacks without changes; also most of each hash. */
const TABLES = ["whole", "changes", "short"] as const;
type Table = (typeof TABLES)[number];

/** Returns the first line of a comment, which is invisible and lets the next run find the comment. */
export const fleetMarker = ({ project, fleet }: FleetReview): string =>
  `<!-- foresail:fleet/${commentWord(project)}/${commentWord(fleet.name ?? project)} -->`;

/**
 * Renders a preview of a fleet as one comment of a pull request: dangers and a table, then the details of each stack, folded.
 * The least important details are left out first where not all fit, and the comment says what. Dangers never are.
 *
 * @param limit the longest comment, in characters
 * @param plans whether the last line, which is invisible, has the whole hash of each plan, for the pipeline that applies them
 * @throws CommentTooLongError
 */
export function renderFleetComment(
  review: FleetReview,
  { limit = COMMENT_LIMIT, plans = false } = {},
): string {
  const details = detailsOf(review);
  const end = plans ? `${plansLine(review)}\n` : "";
  let shortest = 0;
  for (const table of TABLES) {
    const render = (count: number) => renderComment(review, details, count, table) + end;
    const kept = mostThatFit(details.length, (count) => render(count).length <= limit);
    if (kept >= 0) return render(kept);
    shortest = render(0).length;
  }
  throw new CommentTooLongError(shortest, limit);
}

/** Returns the line from which a pipeline reads the plans. It comes last, where no text from outside can be. */
function plansLine({ stacks }: FleetReview): string {
  const plans = Object.entries(stacks).flatMap(([name, { plan }]) =>
    plan !== undefined && isPlainName(name) ? [` ${name}=${plan}`] : [],
  );
  return `<!-- foresail-plans:${plans.join("")} -->`;
}

function renderComment(review: FleetReview, details: readonly Detail[], kept: number, table: Table): string {
  const { fleet } = review;
  const order = stacksOf(fleet);
  const shown = details.slice(0, kept);
  const leftOut = details.slice(kept);
  return [
    fleetMarker(review),
    `### foresail: ${headline(review)}`,
    "",
    ...dangerLines(review),
    ...tableLines(review, table),
    "",
    ...order.flatMap((stack) => stackLines(stack, shown, leftOut)),
    ...leftOutLines(leftOut),
    "",
  ].join("\n");
}

function dangerLines(review: FleetReview): string[] {
  const lines = fleetDangers(review).map(({ kind, words, stacks }) => {
    const title = DANGERS.flatMap((one) => (one === kind ? HEADINGS[one] : []))[0] ?? "Dangerous";
    const more = stacks.length - STACKS_NAMED;
    const names = stacks.slice(0, STACKS_NAMED).map(code).join(", ");
    return `- **${title}** in ${names}${more > 0 ? ` and ${more} more` : ""}: ${code(words)}`;
  });
  return lines.length > 0 ? ["**Review first**", "", ...lines, ""] : [];
}

function tableLines({ fleet, stacks }: FleetReview, table: Table): string[] {
  const rows: string[] = [];
  let unchanged = 0;
  for (const wave of fleet.waves)
    for (const name of wave.stacks) {
      const stack = stacks[name];
      const isQuiet = stack !== undefined && !hasFailed(stack) && stack.changes.length === 0;
      if (table !== "whole" && isQuiet) unchanged += 1;
      else rows.push(row(rowOf(wave.name, name, stack, table)));
    }
  const rest =
    unchanged > 0
      ? [row(["…", `${plural(unchanged, "stack")} where nothing changes`, "", "", "", "", ""])]
      : [];
  return [
    row(["wave", "stack", "system", "version", "changes", "dangerous", "plan (SHA-256)"]),
    row(Array.from({ length: 7 }, () => "---")),
    ...rows,
    ...rest,
  ];
}

const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

function rowOf(wave: string, name: string, stack: StackReview | undefined, table: Table): string[] {
  const cell = (text: string | undefined) => (text === undefined || text === "" ? "–" : code(text));
  const dangers = stack?.dangers.length ?? 0;
  const hash = table === "short" ? stack?.plan?.slice(0, SHORT_HASH) : stack?.plan;
  return [
    ...[code(wave), code(name), cell(stack?.system), cell(stack && versionWords(stack))],
    ...[changeWords(stack), dangers > 0 ? `**${dangers}**` : "0", cell(hash)],
  ];
}

function stackLines(stack: string, shown: readonly Detail[], leftOut: readonly Detail[]): string[] {
  const own = shown.filter((detail) => detail.stack === stack);
  if (own.length === 0) return [];
  const more = leftOut.filter((detail) => detail.stack === stack);
  return [
    `<details><summary><code>${htmlText(stack)}</code></summary>`,
    "",
    ...own.flatMap(({ title, lines }) => [code(title), "", fenced(lines), ""]),
    ...(more.length > 0 ? [`_Left out here: ${describe(more)}._`, ""] : []),
    "</details>",
    "",
  ];
}

function leftOutLines(leftOut: readonly Detail[]): string[] {
  if (leftOut.length === 0) return [];
  const stacks = new Set(leftOut.map(({ stack }) => stack)).size;
  return [
    `_Left out of this comment, for its size: ${describe(leftOut)} of ${plural(stacks, "stack")}. The page of this preview has them._`,
  ];
}

function describe(details: readonly Detail[]): string {
  const lines = new Map<string, number>();
  for (const { importance, lines: own } of details)
    lines.set(importance, (lines.get(importance) ?? 0) + own.length);
  return [...lines].map(([what, count]) => `${plural(count, "line")} of ${what}`).join(", ");
}

/** Returns a text from outside for a summary, where Markdown is not read, and HTML is. */
const htmlText = (text: string): string =>
  code(text)
    .replace(/^`+ ?| ?`+$/g, "")
    .replace(/[^A-Za-z0-9 ./_-]/gu, (character) => `&#${character.codePointAt(0)};`);
