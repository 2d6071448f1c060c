import assert from "node:assert/strict";
import { projectFolder } from "../../../sandbox/paths";
import { listTestFiles } from "../../test-files";
import { TIERS } from "../../tiers";
import { filesInTurn, nameOf, TURNS, turnOf } from "../../turns";

const files = listTestFiles(
  projectFolder,
  TIERS.flatMap(({ folders }) => folders),
);
const turns = [1, 2, 3];

describe("test files that run in turn", () => {
  it("exist, and each has one turn", () => {
    const names = TURNS.flat();
    assert.deepEqual([...new Set(names)], names);
    assert.deepEqual(
      names.filter((name) => !files.map(nameOf).includes(name)),
      [],
    );
  });

  it("run on one day of three, and all others on every day", () => {
    const ran = turns.flatMap((turn) => filesInTurn(files, turn).files.map(nameOf));
    const inTurn = new Set(TURNS.flat());
    const wanted = files.map(nameOf).flatMap((name) => (inTurn.has(name) ? [name] : [name, name, name]));
    assert.deepEqual(ran.sort(), wanted.sort());
  });

  it("are named when they wait", () => {
    for (const turn of turns)
      assert.deepEqual(
        filesInTurn(files, turn).waiting.sort(),
        TURNS.flatMap((names, at) => (at + 1 === turn ? [] : names)).sort(),
      );
  });

  it("have the next turn on the next day", () => {
    const days = ["2026-11-27", "2026-11-28", "2026-11-29", "2026-11-30"].map((day) => turnOf(new Date(day)));
    assert.deepEqual(days, [1, 2, 3, 1]);
  });
});
