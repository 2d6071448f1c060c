import { type Danger, findDangers } from "./dangers";
import { displayLine, displayText } from "../../lib/text/display";
import { code, commentWord, fenced } from "../../lib/text/markdown";
import { mostThatFit } from "../../lib/text/fit";
import { plural } from "../../lib/text/plural";
import type { Preview } from "./preview";
import { countSteps } from "./steps";

/**
 * The longest comment. GitHub refuses more than 65,536 UTF-16 characters, as JavaScript counts them; the rest is for
 * what a workflow adds.
 */
export const COMMENT_LIMIT = 65_000;

/** How many dangers the summary lists; the steps below contain all of them. */
const DANGERS_SHOWN = 25;

/** What a danger is called in a comment. */
export const HEADINGS: Readonly<Record<Danger["kind"], string>> = {
  refused: "Refused",
  replaced: "Replaced",
  deleted: "Deleted",
  lost: "Given up as lost",
  "taken over": "Taken over from another stack",
  "unknown step": "Unknown step",
  blocked: "Blocked",
  "settings lost": "Settings that others wrote go away",
  "failed before": "Failed in an earlier run",
  certificates: "Certificates end",
  "taint removed": "Taint removed",
  "control plane": "Control plane",
  unread: "Cluster not read",
};

/** A part after the summary: a heading and its lines, of which the last may be cut. */
interface Block {
  readonly title: string;
  readonly lines: readonly string[];
}

/** Returns the first line of a comment, which is invisible and lets the next run find the comment. */
export function commentMarker(preview: Pick<Preview, "project" | "stack">): string {
  return `<!-- foresail:${commentWord(preview.project ?? "")}/${commentWord(preview.stack ?? "")} -->`;
}

/**
 * Renders a preview as a pull request comment: dangers first, then the steps of each resource. Leaves out steps that do
 * not fit; the summary is always complete.
 *
 * @param limit the longest comment, in characters
 */
export function renderMarkdown(preview: Preview, { limit = COMMENT_LIMIT } = {}): string {
  const summary = renderSummary(preview);
  const blocks = blocksOf(preview);
  const most = blocks.reduce((sum, { lines }) => sum + 1 + lines.length, 0);
  /** The comment with the first lines of all parts; a title counts as a line, and is not shown alone. */
  const render = (lineCount: number): string => {
    const parts = [summary];
    let room = lineCount;
    for (const [index, block] of blocks.entries()) {
      const shown = Math.min(room - 1, block.lines.length);
      if (shown < Math.min(1, block.lines.length)) {
        parts.push(leftOut(blocks.length - index));
        break;
      }
      parts.push(renderBlock(block, shown));
      room -= 1 + shown;
    }
    return parts.join("\n");
  };
  const fits = mostThatFit(most, (count) => render(count).length <= limit);
  // the summary alone may exceed a caller's limit
  return fits < 0 ? summary : render(fits);
}

/** Renders the part that is never cut: marker, heading, counts, dangers. */
export function renderSummary(preview: Preview): string {
  const dangers = findDangers(preview);
  const name = preview.stack === undefined ? "the stack" : code(preview.stack);
  return [
    commentMarker(preview),
    `### foresail: ${headline(preview, name)}`,
    "",
    ...(dangers.length > 0 ? [...renderDangers(dangers), ""] : []),
  ].join("\n");
}

function headline(preview: Preview, name: string): string {
  if (preview.errors.length > 0) return `the preview of ${name} failed`;
  if (preview.changes.length === 0) return `nothing changes in ${name}`;
  return `${countSteps(preview.changes)} of ${name}; ${preview.unchanged} unchanged`;
}

function renderDangers(dangers: readonly Danger[]): string[] {
  const shown = dangers.slice(0, DANGERS_SHOWN);
  const lines = ["**Review first**", ""];
  for (const { kind, words } of shown) lines.push(`- **${HEADINGS[kind]}**: ${code(words)}`);
  const more = dangers.length - shown.length;
  if (more > 0) lines.push(`- … and ${more} more below`);
  return lines;
}

function blocksOf(preview: Preview): Block[] {
  const errors = preview.errors.flatMap((error) => displayText(error).split("\n"));
  const changes = preview.changes.map(({ type, name, operation, steps }) => ({
    title: `**${code(`${type} ${name}`)}** (${operation})`,
    lines: steps.map(displayLine),
  }));
  return [
    ...(errors.length > 0 ? [{ title: "**What was refused**", lines: errors }] : []),
    // changes with steps come first, because a reviewer reads those
    ...changes.filter(({ lines }) => lines.length > 0),
    ...changes.filter(({ lines }) => lines.length === 0),
    ...(preview.notes.length > 0 ? [{ title: "**Remarks**", lines: preview.notes.map(displayLine) }] : []),
  ];
}

function renderBlock({ title, lines }: Block, shown: number): string {
  if (lines.length === 0) return `${title}\n`;
  const more = lines.length - shown;
  const rest = more > 0 ? [`… and ${plural(more, "more line")}, left out here`] : [];
  return [title, "", fenced([...lines.slice(0, shown), ...rest]), ""].join("\n");
}

function leftOut(resources: number): string {
  return `_${plural(resources, "more part")} of the preview left out here; the log and the artifact of this run hold all._\n`;
}
