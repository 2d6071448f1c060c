import assert from "node:assert/strict";
import Ajv from "ajv";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { exportedText } from "../../../../../cli/fleet/commands/export";
import type { ExportedFile } from "../../../../../cli/fleet/plan/export/exported";
import { type Fleet, readFleet } from "../../../../../cli/fleet/plan/fleet";
import { read } from "../../../docs/project";

const STACKS = ["prod-eu1", "prod-eu2", "prod-us1", "prod-us2", "Lab_1.x"];

/** Fleets that fleet.yaml can describe, with any text where it may have one. */
export const fleets: fc.Arbitrary<Fleet> = fc
  .record({
    maxParallel: fc.integer({ min: 1, max: 50 }),
    onFailure: fc.constantFrom("stop", "continue"),
    gates: fc.array(
      fc.option(
        fc.record({
          soakSeconds: fc.option(fc.integer({ min: 1, max: 86_400 }), { nil: undefined }),
          nodesReady: fc.boolean(),
          approval: fc.boolean(),
          command: fc.option(fc.array(fc.string({ minLength: 1, unit: "binary" }), { minLength: 1 }), {
            nil: undefined,
          }),
        }),
        { nil: undefined },
      ),
      { minLength: 1, maxLength: 4 },
    ),
    order: fc.shuffledSubarray(STACKS, { minLength: 5 }),
  })
  .map(({ gates, order, ...file }) => {
    const waves = gates.map((gate, at) => ({
      name: ["canary", "0", "europe-1", "rest"][at],
      stacks: at === gates.length - 1 ? order.slice(at) : order.slice(at, at + 1),
      gate,
    }));
    const { fleet, issues } = readFleet({ ...file, waves }, STACKS);
    assert.deepEqual(issues, []);
    return fleet!;
  });

/** Texts that try to leave the place that they are written to. */
export const hostileNames = fc.oneof(
  fc.constantFrom(
    ...[
      "a b",
      "a\nb: c",
      "${{ secrets.X }}",
      "$(reboot)",
      "`id`",
      "a;id",
      "'",
      '"',
      "-x",
      "../x",
      "a/b",
      "a: b",
      "#a",
    ],
    ...["&a", "*a", "!!js", "|", "", "x\u202e", "x\0"],
  ),
  fc.string({ unit: "binary" }).filter((text) => !/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/.test(text)),
);

/** A fleet with one stack and one wave of these names, which no validation has seen. */
export const fleetNamed = (stack: string, wave: string): Fleet => ({
  maxParallel: 2,
  onFailure: "stop",
  waves: [{ name: wave, stacks: [stack] }],
});

/** Returns the documents of a file as a reader of YAML sees them. */
const documentsOf = (file: ExportedFile): unknown[] =>
  parseAllDocuments(exportedText(file)).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as unknown;
  });

/** Returns a schema of test/fixtures/schemas. */
export const schemaNamed = (name: string) => JSON.parse(read(`test/fixtures/schemas/${name}`)) as object;

/** Asserts, for any of these fleets, that exported files have the form of a schema, and are read as they were meant. */
export function assertForm(
  schema: object,
  filesOf: (fleet: Fleet) => readonly ExportedFile[],
  of: fc.Arbitrary<Fleet> = fleets,
): void {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  const validate = ajv.compile(schema);
  fc.assert(
    fc.property(of, (fleet) => {
      for (const file of filesOf(fleet)) {
        const contents = documentsOf(file);
        assert.deepEqual(contents, file.documents);
        for (const content of contents)
          assert.ok(validate(content), JSON.stringify(validate.errors?.slice(0, 3), undefined, 1));
      }
    }),
    { numRuns: 15 },
  );
}
