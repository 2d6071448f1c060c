import assert from "node:assert/strict";
import { TABLES } from "../../cli/review/steps";

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
