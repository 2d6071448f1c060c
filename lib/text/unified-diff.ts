import { structuredPatch } from "diff";
import { displayText } from "./display";
import { plural } from "./plural";
import { shortened } from "./quote";
import { redact } from "./redaction";

/** A file as a machine has it, or as it will be. */
export interface FileState {
  readonly content: string;
  /** Permissions and owner, such as `0644 root:root`; compared only where both states have them. */
  readonly mode?: string;
}

/** A file that differs. */
export interface FileDifference {
  readonly path: string;
  /** Undefined when there is no such file. */
  readonly before?: FileState;
  /** Undefined when the file is removed. */
  readonly after?: FileState;
  /** Whether no part of the content may be shown. */
  readonly isSecret?: boolean;
}

/** The files of one node that differ. */
export interface NodeDifferences {
  readonly node: string;
  readonly files: readonly FileDifference[];
}

/** Most lines of one file's diff. */
const MOST_LINES = 60;
/** Longer lines are cut. */
const LONGEST_LINE = 200;
/** Most files of all nodes whose differences are shown. */
const MOST_FILES = 300;
/** Most lines of all differences. */
const MOST_LINES_OF_ALL = 2_000;
/** Files that have more changed lines than this are not compared line by line, which would take long. */
const MOST_CHANGES = 500;

interface Diff {
  readonly lines: readonly string[];
  /** The same for files with the same changes, also when the lines around them differ. */
  readonly key: string;
}

/**
 * Returns what differs as unified diffs, which can be displayed: without secrets, cut, one heading `cp-1, cp-2:` for the
 * nodes with equal changes. The lines around a change are those of the first node.
 */
export function groupedDiffs(nodes: readonly NodeDifferences[]): string[] {
  const groups = new Map<string, { nodes: string[]; lines: readonly string[] }>();
  const all = nodes.flatMap(({ node, files }) => files.map((file) => ({ node, file })));
  let [shown, count] = [0, 0];
  for (const { node, file } of all) {
    if (shown === MOST_FILES || count >= MOST_LINES_OF_ALL) break;
    shown++;
    const { key, lines } = diffOf(file);
    const group = groups.get(key);
    if (group !== undefined) group.nodes.push(node);
    else {
      groups.set(key, { nodes: [node], lines });
      count += lines.length;
    }
  }
  const rest = all.length - shown;
  const headings = new Map<string, string[]>();
  for (const { nodes: names, lines } of groups.values()) {
    const heading = `${names.join(", ")}:`;
    headings.set(heading, [...(headings.get(heading) ?? []), ...lines]);
  }
  return [
    ...[...headings].flatMap(([heading, lines]) => [heading, ...lines]),
    ...(rest > 0 ? [`… ${plural(rest, "more file")} without a diff`] : []),
  ];
}

/** Returns the unified diff of one file, in lines that can be displayed. */
export const unifiedDiff = (file: FileDifference): readonly string[] => diffOf(file).lines;

function diffOf(file: FileDifference): Diff {
  const { path, before, after } = file;
  const header = [
    `--- ${before ? path : "/dev/null"}`,
    `+++ ${after ? path : "/dev/null"}`,
    ...(before?.mode !== undefined && after?.mode !== undefined && before.mode !== after.mode
      ? [`mode ${before.mode} → ${after.mode}`]
      : []),
  ].map(visible);
  const { lines, changes } = contentDiff(before?.content ?? "", after?.content ?? "", file.isSecret === true);
  const more = lines.length - MOST_LINES;
  const rest = more > 0 ? [`… ${plural(more, "more line")}`] : [];
  const shown = [...header, ...lines.slice(0, MOST_LINES).map(visible), ...rest];
  return { lines: shown, key: JSON.stringify([header, changes]) };
}

/** Returns the lines of the difference, and what of them decides whether two nodes have the same one. */
function contentDiff(before: string, after: string, isSecret: boolean) {
  const note = (words: string) => ({ lines: [words], changes: [words] });
  if (before === after) return { lines: [], changes: [] };
  if (isSecret) return note("content differs (secret)");
  if (isBinary(before) || isBinary(after)) return note("content differs (not text)");
  // whole texts first: a key has several lines, of which one alone is not recognized
  const [old, now] = [redact(before), redact(after)];
  if (old === now) return note("content differs (secret)");
  const patch = structuredPatch("", "", old, now, undefined, undefined, {
    context: 3,
    maxEditLength: MOST_CHANGES,
  });
  if (patch === undefined)
    return note(`content differs (${plural(countLines(old), "line")} → ${plural(countLines(now), "line")})`);
  const hidden = old !== before || now !== after ? ["(values that look secret are not shown)"] : [];
  const lines = patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: each }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...each,
  ]);
  return { lines: [...lines, ...hidden], changes: lines.filter((line) => !line.startsWith(" ")) };
}

/** Returns a range of lines; an empty one begins after a line. */
const range = (start: number, count: number): string => `${count === 0 ? start - 1 : start},${count}`;

const isBinary = (text: string): boolean => text.includes("\0") || text.includes("\uFFFD");

const countLines = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

/** Returns a line as it can be displayed; ends of lines within it would be lost. */
const visible = (line: string): string =>
  shortened(displayText(line.replaceAll("\r", "\\u{d}").replaceAll("\n", "\\u{a}")), LONGEST_LINE);
