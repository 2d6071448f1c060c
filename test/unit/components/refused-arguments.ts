import assert from "node:assert/strict";
import { issueLines, type ValidationIssue } from "../../../lib/validation/validation-issue";
import { check } from "../../../lib/validation/check";

type Fields = Record<string, unknown>;

/**
 * Defines a test for each change of a valid section of a stack file: the component refuses it in the same words.
 *
 * @param argumentIssues returns the component's issues for a section
 * @param prefix the argument that has fields of the section, if there is one
 */
export function refusesTheSame(
  schema: Parameters<typeof check>[0],
  valid: Fields,
  argumentIssues: (section: Fields) => ValidationIssue[],
  changes: readonly Fields[],
  prefix = "",
): void {
  const lines = (issues: ValidationIssue[]) =>
    issueLines(issues)
      .map((line) => (line.startsWith(`${prefix}.`) ? line.slice(prefix.length + 1) : line))
      .sort();

  it("accepts a valid section", () => {
    assert.deepEqual(lines(check(schema, valid, []).issues), []);
    assert.deepEqual(lines(argumentIssues(valid)), []);
  });

  for (const change of changes)
    it(`refuses ${JSON.stringify(change).slice(0, 90)} in the words of a stack file`, () => {
      const section = { ...valid, ...change };
      const inStackFile = lines(check(schema, section, []).issues);
      assert.notDeepEqual(inStackFile, []);
      assert.deepEqual(lines(argumentIssues(section)), inStackFile);
    });
}
