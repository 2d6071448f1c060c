import { displayLine, displayText } from "../../../lib/text/display";
import type { FleetReview, StackReview } from "./review";

/** The details of a review, the most important first. */
const IMPORTANCE = ["errors", "dangerous changes", "steps", "resources", "remarks", "diffs"] as const;
type Importance = (typeof IMPORTANCE)[number];

/** A part of a review that may be left out: what is dangerous is listed apart from it. */
export interface Detail {
  readonly stack: string;
  readonly importance: Importance;
  readonly title: string;
  readonly lines: readonly string[];
}

/** The longest part, in lines, so that one stack does not take the place of all others. */
const LINES_OF_PART = 60;

/** Returns the details of all stacks, the most important first, and those of equal importance in the order of the waves. */
export function detailsOf({ fleet, stacks }: FleetReview): Detail[] {
  const all = fleet.waves.flatMap((wave) =>
    wave.stacks.flatMap((name) => {
      const stack = stacks[name];
      return stack === undefined ? [] : detailsOfStack(name, stack);
    }),
  );
  const rank = ({ importance }: Detail) => IMPORTANCE.indexOf(importance);
  return all.flatMap(partsOf).sort((one, other) => rank(one) - rank(other));
}

function detailsOfStack(stack: string, review: StackReview): Detail[] {
  const dangerous = new Set(review.dangers.map(({ words }) => words));
  const isDangerous = (steps: readonly string[]) => steps.some((step) => dangerous.has(step));
  const detail = (importance: Importance, title: string, lines: readonly string[]): Detail => ({
    stack,
    importance,
    title,
    lines: lines.map((line) => (importance === "diffs" ? displayText(line).trimEnd() : displayLine(line))),
  });
  const found = [
    detail(
      "errors",
      "what was refused",
      review.errors.flatMap((error) => displayText(error).split("\n")),
    ),
    ...review.changes
      .filter(({ steps }) => steps.length > 0)
      .map(({ type, name, operation, steps }) =>
        detail(isDangerous(steps) ? "dangerous changes" : "steps", `${operation} ${type} ${name}`, steps),
      ),
    detail(
      "resources",
      "resources without steps",
      review.changes
        .filter(({ steps }) => steps.length === 0)
        .map(({ type, name, operation }) => `${operation} ${type} ${name}`),
    ),
    detail("remarks", "remarks", review.notes),
    ...review.diffs.map(({ nodes, lines }) => detail("diffs", `files of ${nodes}`, lines)),
  ];
  return found.filter(({ lines }) => lines.length > 0);
}

function partsOf(detail: Detail): Detail[] {
  const count = Math.ceil(detail.lines.length / LINES_OF_PART);
  return Array.from({ length: count }, (_, index) => ({
    ...detail,
    title: index === 0 ? detail.title : `${detail.title}, continued`,
    lines: detail.lines.slice(index * LINES_OF_PART, (index + 1) * LINES_OF_PART),
  }));
}
