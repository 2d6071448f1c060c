import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { KUBERNETES_MINORS } from "../../../providers/kubeadm/plan/cluster/kubernetes-minors";
import { projectFolder } from "../../../sandbox/paths";

interface Script {
  newestPatches(tags: readonly string[]): Map<string, string>;
  updated(text: string, newest: ReadonlyMap<string, string>, date: string): string;
  judgeAge(text: string, now: number): { failed: boolean; line?: string };
}
// eslint-disable-next-line @typescript-eslint/no-require-imports -- a script, which has no types
const script = require(path.join(projectFolder, "scripts", "kubernetes-minors.cjs")) as Script;
const TABLE = path.join(projectFolder, "providers/kubeadm/plan/cluster/kubernetes-minors.ts");
const TEXT = `/** The minors of Kubernetes as of 2026-11-27. */
  "1.36": { patch: "1.36.3", endOfLife: "2027-06-28" },
  "1.37": { patch: "1.37.10", endOfLife: "2027-10-28" },
`;
const onDay = (days: number) => Date.parse("2026-11-27") + days * 86_400_000;

describe("the table of Kubernetes' minors", () => {
  it("takes the newest stable patch of each minor", () => {
    const tags = [
      "v1.9.0",
      "v1.36.0-rc.1",
      "v1.36.9",
      "v1.36.10",
      "v1.36.2",
      "v1.37.2",
      "v2.0.0",
      "v1.37.3-beta.0",
    ];
    assert.deepEqual(
      [...script.newestPatches(tags)],
      [
        ["1.9", "1.9.0"],
        ["1.36", "1.36.10"],
        ["1.37", "1.37.2"],
      ],
    );
  });

  it("gets newer patches and the date, never an older patch, and nothing else", () => {
    const newest = new Map(Object.entries({ "1.36": "1.36.10", "1.37": "1.37.2" }));
    assert.equal(
      script.updated(TEXT, newest, "2027-01-05"),
      TEXT.replace("1.36.3", "1.36.10").replace("2026-11-27", "2027-01-05"),
    );
  });

  it("is not written while a newer minor is missing, whose end of support nobody has entered", () =>
    assert.throws(
      () => script.updated(TEXT, new Map([["1.38", "1.38.0"]]), "2027-01-05"),
      /Kubernetes 1\.38 is not in the table: add it with its end of support/,
    ));

  for (const [days, failed, line] of [
    [0, false, undefined],
    [59, false, undefined],
    [60, false, /60 days old: npm run minors/],
    [119, false, /119 days old/],
    [120, true, /120 days old/],
  ] as const)
    it(`${failed ? "fails" : line ? "warns" : "says nothing"} in lint after ${days} days`, () => {
      const judged = script.judgeAge(TEXT, onDay(days));
      assert.equal(judged.failed, failed);
      if (line === undefined) assert.equal(judged.line, undefined);
      else assert.match(judged.line ?? "", line);
    });

  it("is read from its own file: a date, and each of its rows", () => {
    const text = readFileSync(TABLE, "utf8");
    assert.match(script.judgeAge("", 0).line ?? "", /names no date/);
    assert.equal(script.judgeAge(text, onDay(0)).failed, false);
    const newest = new Map(Object.keys(KUBERNETES_MINORS).map((minor) => [minor, `${minor}.99`]));
    const rows = script.updated(text, newest, "2026-11-27").match(/\.99"/g) ?? [];
    assert.equal(rows.length, newest.size);
  });
});
