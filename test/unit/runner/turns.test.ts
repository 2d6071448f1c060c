import assert from "node:assert/strict";
import { projectFolder } from "../../../sandbox/paths";
import { listTestFiles } from "../../test-files";
import { TIERS } from "../../tiers";
import { filesInTurn, nameOf, TURNS, turnOf } from "../../turns";

const files = listTestFiles(
  projectFolder,
  TIERS.flatMap(({ folders }) => folders),
);
const turns = TURNS.map((_names, at) => at + 1);

describe("test files that run in turn", () => {
  it("exist, and each has one turn", () => {
    const names = TURNS.flat();
    assert.deepEqual([...new Set(names)], names);
    assert.deepEqual(
      names.filter((name) => !files.map(nameOf).includes(name)),
      [],
    );
  });

  it("run in one turn, and all others in every one", () => {
    const ran = turns.flatMap((turn) => filesInTurn(files, turn).files.map(nameOf));
    const inTurn = new Set(TURNS.flat());
    const wanted = files.map(nameOf).flatMap((name) => (inTurn.has(name) ? [name] : turns.map(() => name)));
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
    const first = Date.UTC(2026, 10, 27);
    const days = [...turns, 0].map((_turn, at) => turnOf(new Date(first + at * 86_400_000)));
    assert.deepEqual(days, [...turns, 1]);
  });
});
