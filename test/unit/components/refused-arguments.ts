import assert from "node:assert/strict";
import { issueLines, type ValidationIssue } from "../../../lib/validation/validation-issue";
import { check } from "../../../lib/validation/check";

type Fields = Record<string, unknown>;

/**
 * Defines a test for each change of a valid section of a stack file: the component refuses it in the same words.
 *
 * @param make makes the component, or checks its arguments, for a section
 */
export function refusesTheSame(
  schema: Parameters<typeof check>[0],
  valid: Fields,
  make: (section: Fields) => unknown,
  changes: readonly Fields[],
): void {
  const lines = (issues: ValidationIssue[]) => issueLines(issues).sort();

  it("accepts a valid section", () => {
    assert.deepEqual(lines(check(schema, valid, []).issues), []);
    assert.deepEqual(refused(make, valid), []);
  });

  for (const change of changes)
    it(`refuses ${JSON.stringify(change).slice(0, 90)} in the words of a stack file`, () => {
      const section = { ...valid, ...change };
      const inStackFile = lines(check(schema, section, []).issues);
      assert.notDeepEqual(inStackFile, []);
      assert.deepEqual(refused(make, section), inStackFile);
    });
}

/** Returns the lines by which arguments are refused, in order; none if they are accepted. */
export function refused(make: (args: Fields) => unknown, args: Fields): string[] {
  try {
    make(args);
    return [];
  } catch (error) {
    const [, ...lines] = (error as Error).message.split("\n  ");
    return lines.sort();
  }
}
