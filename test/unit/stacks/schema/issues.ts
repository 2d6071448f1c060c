import assert from "node:assert/strict";
import { loadConfiguration, type ConfigurationReader } from "../../../../stacks/schema";
import { reader } from "./valid";

/** The reported issues, without the first line; none for a valid configuration. */
export function issuesOf(reader: ConfigurationReader): string[] {
  try {
    loadConfiguration(reader);
    return [];
  } catch (error) {
    return (error as Error).message
      .split("\n")
      .slice(1)
      .map((line) => line.trim());
  }
}

/** Wrong inputs by the class that they are of: the line that refuses each, and a cluster or all keys of a stack. */
export type RefusedInputs = Record<
  string,
  [said: string, input: Record<string, unknown> | ConfigurationReader][]
>;

/** Defines a test for each class: every input of it is refused with exactly its line. */
export function refuses(table: RefusedInputs): void {
  describe("configuration: refuses", () => {
    for (const [what, cases] of Object.entries(table))
      it(`${what} (${cases.length} cases)`, function () {
        // Generous: without a bound on numbers, one case took 88 seconds.
        this.timeout(10_000);
        for (const [said, input] of cases) {
          const isReader = "isSecret" in input;
          const configured = isReader ? (input as ConfigurationReader) : reader(input);
          assert.deepEqual(issuesOf(configured), [said]);
        }
      });
  });
}
