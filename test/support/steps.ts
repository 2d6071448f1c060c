import assert from "node:assert/strict";
import { isPreparation, TABLES } from "../../cli/review/steps";
import type { StepTable } from "../../lib/steps/steps";

/**
 * Checks that a review knows the kind of each line that a resource emits, and formats it as the resource does.
 *
 * @param type the last part of the resource's type
 */
export function assertKnownSteps(type: string, lines: unknown): void {
  if (!Array.isArray(lines)) return;
  for (const line of lines as string[]) {
    const table = TABLES[type];
    const step = table?.parse(line);
    assert.ok(table && step, `no table of ${type} has a kind for the line: ${line}`);
    assert.equal(table.format(step), line);
  }
}

/** Returns the steps of one kind among the lines of a preview; lines of other kinds are left out. */
export function stepsOfKind<Step extends { readonly kind: string }, Kind extends Step["kind"]>(
  table: StepTable<Step>,
  kind: Kind,
  lines: unknown,
): Extract<Step, { kind: Kind }>[] {
  return ((lines ?? []) as readonly string[])
    .map((line) => table.parse(line))
    .filter((step): step is Extract<Step, { kind: Kind }> => step?.kind === kind);
}

/** Returns the lines of a preview without those of what is prepared on machines. */
export const withoutPreparation = (lines: unknown): string[] =>
  ((lines ?? []) as string[]).filter((line) => !isPreparation(line));
