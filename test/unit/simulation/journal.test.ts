import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { JournalLine } from "../../simulation/fleet-files";
import { askedTwiceAtOnce, doneTwice, readJournal, runsAtOnce } from "../../simulation/journal";
import { parseScript } from "../../simulation/received-script";
import { wrapScript } from "../../../lib/ssh/script";

describe("the simulation's journal", () => {
  const lines: JournalLine[] = [
    { id: 1, machine: "w-1", operation: "join-worker", at: 10, event: "asked" },
    { id: 1, machine: "w-1", operation: "join-worker", at: 11, event: "start" },
    { id: 2, machine: "w-1", operation: "join-worker", at: 12, event: "asked" },
    { id: 1, machine: "w-1", operation: "join-worker", at: 20, event: "end", outcome: "done" },
    { id: 2, machine: "w-1", operation: "join-worker", at: 20, event: "start" },
    { id: 2, machine: "w-1", operation: "join-worker", at: 21, event: "end", outcome: "done" },
    { id: 3, machine: "w-2", operation: "join-worker", at: 15, event: "asked" },
    { id: 3, machine: "w-2", operation: "join-worker", at: 15, event: "start" },
  ];
  const journal = readJournal(lines);

  it("puts lines together into runs", () => {
    assert.deepEqual(
      journal.map(({ id, startedAt, endedAt, outcome }) => [id, startedAt, endedAt, outcome]),
      [
        [1, 11, 20, "done"],
        [2, 20, 21, "done"],
        [3, 15, undefined, undefined],
      ],
    );
  });

  it("finds overlapping runs, what was done twice, and requests during a run", () => {
    const pairs = runsAtOnce(journal, ["join-worker"]).map(([one, other]) => [one.id, other.id]);
    assert.deepEqual(pairs, [
      [1, 3],
      [2, 3],
    ]);
    assert.deepEqual(runsAtOnce(journal, ["init"]), []);
    assert.deepEqual(doneTwice(journal, ["join-worker"]), ["join-worker w-1"]);
    assert.deepEqual(askedTwiceAtOnce(journal), ["join-worker w-1"]);
  });
});

describe("parseScript", () => {
  it("splits a script as bash would: title, text and the data after the brace", () => {
    const stdin = `${wrapScript("init", "cp-1", "f() {\n  true\n}\nlock_seconds=7\nexit 0")}a: b\n}\nexit\n}\n`;
    const script = parseScript(stdin);
    assert.deepEqual([script?.operation, script?.machine, script?.lockSeconds], ["init", "cp-1", 7]);
    assert.equal(script?.data.startsWith("a: b\n}"), true);
    assert.match(script?.text ?? "", /^# foresail: init cp-1\nbuiltin printf .*\nf\(\) \{/);
  });

  it("rejects a script of another program, or a truncated one", () => {
    assert.equal(parseScript("{\necho\nexit\n}\n"), undefined);
    assert.equal(parseScript("{\n# foresail: init cp-1\nkubeadm init\n"), undefined);
  });
});
