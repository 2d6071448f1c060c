import { findDangers } from "./dangers";
import type { Preview } from "./preview";
import { plural } from "../../lib/text/plural";
import { countSteps } from "./steps";
import type { Difference } from "./compare";

/**
 * Renders a preview for a terminal: each resource with its steps, and the dangers at the end, where they are visible.
 */
export function renderText(preview: Preview): string[] {
  const lines: string[] = [];
  for (const { type, name, operation, steps } of preview.changes) {
    lines.push(`${operation} ${type} ${name}`, ...steps.map((step) => `    ${step}`));
  }
  if (preview.notes.length > 0) lines.push("remarks:", ...preview.notes.map((note) => `    ${note}`));
  const dangers = findDangers(preview);
  if (dangers.length > 0)
    lines.push("review first:", ...dangers.map(({ kind, words }) => `  ! ${kind}: ${words}`));
  lines.push(
    preview.changes.length === 0 && preview.errors.length === 0
      ? `nothing changes; ${plural(preview.unchanged, "resource")} unchanged`
      : `${countSteps(preview.changes)}; ${preview.unchanged} unchanged`,
  );
  return lines;
}

const NARROWEST = 20;

/** Returns the reviewed and the current lines of each resource in two columns; marks rows that differ. */
export function sideBySide(differences: readonly Difference[], width = 120): string[] {
  const column = Math.max(NARROWEST, Math.floor((width - 7) / 2));
  return differences.flatMap((difference) => [
    `${difference.type} ${difference.name}: ${difference.why}`,
    row("reviewed", "now", column, "  "),
    row("-".repeat(column), "-".repeat(column), column, "  "),
    ...pair(difference).flatMap(([reviewed, current]) => rows(reviewed, current, column)),
    "",
  ]);
}

type Pair = readonly [string | undefined, string | undefined];

/** Pairs equal lines, and in between, in order, each removed line with one that replaces it. */
function pair({ reviewed, current }: Difference): Pair[] {
  const pairs: Pair[] = [];
  let [left, right] = [0, 0];
  const pairUntil = (leftEnd: number, rightEnd: number) => {
    const [gone, come] = [reviewed.slice(left, leftEnd), current.slice(right, rightEnd)];
    const longer = gone.length > come.length ? gone : come;
    pairs.push(...longer.map((_, index): Pair => [gone[index], come[index]]));
    [left, right] = [leftEnd, rightEnd];
  };
  reviewed.forEach((line, index) => {
    const at = current.indexOf(line, right);
    if (at < 0) return;
    pairUntil(index, at);
    pairUntil(index + 1, at + 1);
  });
  pairUntil(reviewed.length, current.length);
  return pairs;
}

function rows(reviewed: string | undefined, current: string | undefined, column: number): string[] {
  const mark = reviewed === current ? "  " : "! ";
  const [left, right] = [wrap(reviewed ?? "", column), wrap(current ?? "", column)];
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
    row(left[index] ?? "", right[index] ?? "", column, index === 0 ? mark : "  "),
  );
}

const row = (left: string, right: string, column: number, mark: string): string =>
  `${mark}${left.padEnd(column)} | ${right}`.trimEnd();

function wrap(text: string, column: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > column) {
    const space = rest.lastIndexOf(" ", column);
    const end = space > column / 2 ? space : column;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}
