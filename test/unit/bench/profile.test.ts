import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { chartSvg, chartText } from "../../../bench/profile/chart";
import { engineSpans, gaps, machineSpans, type TimedLine } from "../../../bench/profile/spans";

const URN = "urn:pulumi:bench::foresail::pulumi-nodejs:dynamic:Resource::bench-init";
const STACK = "urn:pulumi:bench::foresail::pulumi:pulumi:Stack::foresail-bench";
const step = (urn: string, custom = true) => ({ metadata: { op: "create", urn, new: { custom } } });
const lines: readonly TimedLine[] = [
  { at: 0.5, line: "warning: something that is not an event" },
  { at: 1, line: JSON.stringify({ resourcePreEvent: step(STACK) }) },
  { at: 2, line: JSON.stringify({ resourcePreEvent: step(URN) }) },
  { at: 3, line: JSON.stringify({ resOutputsEvent: step(URN) }) },
  { at: 4, line: JSON.stringify({ summaryEvent: { isPreview: true } }) },
  { at: 5, line: JSON.stringify({ resourcePreEvent: step(STACK, false) }) },
  { at: 6, line: JSON.stringify({ resourcePreEvent: step(URN) }) },
  { at: 9, line: JSON.stringify({ resOutputsEvent: step(URN) }) },
  { at: 9.5, line: JSON.stringify({ resOutputsEvent: step(STACK, false) }) },
  { at: 10, line: JSON.stringify({ summaryEvent: { isPreview: false } }) },
];

describe("the profile of a run", () => {
  it("has the phases of the engine, and the resources of the update alone", () => {
    assert.deepEqual(engineSpans(lines, 11), [
      { group: "engine", label: "preview", from: 0, to: 4 },
      { group: "engine", label: "preview: until the first resource", from: 0, to: 2 },
      { group: "engine", label: "update", from: 4, to: 10 },
      { group: "engine", label: "update: until the first resource", from: 4, to: 6 },
      { group: "engine", label: "end", from: 10, to: 11 },
      { group: "resources", label: "create bench-init", from: 6, to: 9 },
    ]);
  });

  it("needs the summaries of both phases", () => {
    assert.throws(() => engineSpans(lines.slice(0, 5), 11), /no summary/);
  });

  it("has the steps of machines from their logs, without those of earlier runs and those that never ended", () => {
    const at = (second: number) => new Date(1_000_000 + second * 1000).toISOString();
    const run = { machine: "cp-1", operation: "init" };
    const runs = [
      { ...run, began: at(-5), ended: at(-4) },
      { ...run, began: at(1), ended: at(2.5) },
      { ...run, began: at(3) },
    ];
    assert.deepEqual(machineSpans(runs, 1_000_000), [{ group: "cp-1", label: "init", from: 1, to: 2.5 }]);
  });

  it("knows the times in which nothing lasts: with the spans, they are all of the time", () => {
    const span = fc.tuple(fc.nat(99), fc.nat(99)).map(([one, other]) => ({
      ...{ group: "w-1", label: "join" },
      ...{ from: Math.min(one, other), to: Math.max(one, other) },
    }));
    fc.assert(
      fc.property(fc.array(span), (spans) => {
        const found = gaps(spans, 100);
        for (let second = 0; second < 100; second++) {
          const covers = ({ from, to }: { from: number; to: number }) => from <= second && second + 1 <= to;
          assert.equal(found.some(covers), !spans.some(covers));
        }
      }),
    );
  });

  it("is drawn with a bar for each span, as wide as it is long", () => {
    const spans = engineSpans(lines, 11);
    const text = chartText(spans, 11).split("\n");
    assert.deepEqual(
      text.filter((line) => !line.startsWith(" ")),
      ["engine", "resources"],
    );
    const bar = /(\S+) (\S+ s)$/.exec(text.at(-1) ?? "");
    assert.deepEqual([bar?.[1]?.length, bar?.[2]], [20, "3.0 s"]);
    const image = chartSvg("<title>", spans, 11);
    assert.equal(image.match(/class="bar"/g)?.length, spans.length);
    assert.ok(!image.includes('<title>"') && image.includes("&lt;title>"));
  });
});
