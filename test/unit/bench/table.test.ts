import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { childrenSeconds } from "../../../bench/cost";
import { partOf } from "../../../bench/process-memory";
import { mergeResults, ratioTo, type Result } from "../../../bench/results";
import { formatFigure, renderPage, rowCells } from "../../../bench/table";

const figure = { median: 12.345, least: 10, most: 20, runs: 3 };
const result: Result = {
  name: "preview",
  title: "A preview",
  date: "2026-01-02",
  machine: "2 cores",
  versions: "Node 20",
  load: [0.5, 1.25],
  rows: [{ what: "empty program", unit: "s", figure }],
  notes: ["as it is"],
};

describe("the table of the benchmarks", () => {
  it("gives a figure as many digits as its precision allows", () => {
    assert.deepEqual(
      [
        formatFigure(1.234, "s"),
        formatFigure(12.34, "s"),
        formatFigure(1234.5, "kB"),
        formatFigure(1.5, "×"),
      ],
      ["1.23 s", "12.3 s", "1235 kB", "1.50 ×"],
    );
  });

  it("reports for each goal whether it was reached", () => {
    const ratio = { figure: { median: 1.6, least: 1.4, most: 2, runs: 3 }, to: "the script" };
    const cells = rowCells({
      what: "foresail",
      unit: "s",
      figure,
      ratio,
      wanted: { words: "≤ 1.3 ×", reached: false },
    });
    assert.deepEqual(cells.slice(4), ["1.60 × the script (1.40 – 2.00)", "≤ 1.3 ×", "**falls short**"]);
  });

  it("shows no spread for a single run", () => {
    const cells = rowCells({ what: "state", unit: "kB", figure: { ...figure, runs: 1 } });
    assert.deepEqual(cells, ["state", "12.3 kB", "", "1", "", "", ""]);
  });

  it("renders machine, date, versions and load with each table", () => {
    const page = renderPage([result]);
    for (const words of [
      "2 cores",
      "2026-01-02",
      "Node 20",
      "0.5 to 1.3",
      "| empty program | 12.3 s |",
      "- as it is",
    ])
      assert.ok(page.includes(words), words);
  });

  it("opens with every figure that has a goal, and a link to its table", () => {
    const wanted = { words: "≤ 1.3 ×", reached: false };
    const page = renderPage([
      { ...result, title: "A new cluster: 1+1", rows: [{ what: "foresail", unit: "s", figure, wanted }] },
    ]);
    const [summary = ""] = page.split("\n## ");
    assert.match(
      summary,
      /\| \[A new cluster: 1\+1\]\(#a-new-cluster-11\): foresail \| 12\.3 s \| {2}\| {2}\| ≤ 1\.3 × \| \*\*falls short/,
    );
    assert.ok(!renderPage([result]).split("\n## ")[0]?.includes("empty program"));
  });

  it("shows in the summary what a figure was compared with, and its time", () => {
    const wanted = { words: "≤ 1.3 ×", reached: true };
    const ratio = ratioTo("the script", [10, 11, 12], [11, 11, 12]);
    const [summary = ""] = renderPage([
      { ...result, rows: [{ what: "foresail", unit: "s", figure, ratio, wanted }] },
    ]).split("\n## ");
    assert.match(summary, /\| 12\.3 s \| the script: 11\.0 s \| 1\.00 × \| ≤ 1\.3 × \| reached \|/);
  });

  it("shows how busy the machine was, where a result says so", () => {
    assert.ok(
      renderPage([{ ...result, busy: [0.004, 0.12] }]).includes("0.5 to 1.3; processors busy: 0 to 12 %."),
    );
  });

  it("replaces only what was measured again", () => {
    const other = { ...result, name: "up" };
    const later = { ...result, date: "2026-02-03" };
    assert.deepEqual(mergeResults([result, other], [later]), [later, other]);
  });
});

describe("what is measured of processes", () => {
  for (const [commandLine, part] of [
    ["node /p/node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js 127.0.0.1:1", "dynamic provider"],
    ["node /p/bin/sandbox/command-plugin/main.js 127.0.0.1:1", "command plugin"],
    ["/usr/bin/node /p/node_modules/@pulumi/pulumi/cmd/run/index.js --monitor x .", "program"],
    ["/p/programs/pulumi-3.230.0/pulumi up --yes", "engine"],
    ["/p/programs/pulumi-3.230.0/pulumi-language-nodejs 127.0.0.1:1", undefined],
    ["node /p/bin/bench/run.js preview", undefined],
    ["vim /p/node_modules/@pulumi/pulumi/cmd/run/index.js", undefined],
  ] as const) {
    it(`counts ${commandLine} as ${part ?? "none of it"}`, () => assert.equal(partOf(commandLine), part));
  }

  it("adds user and system time of ended children", () => {
    const stat = "7 (node (x) y) S 1 7 7 0 -1 4194560 1 2 3 4 11 12 250 50 20 0 1 0 99";
    assert.equal(childrenSeconds(stat), 3);
  });
});
