import assert from "node:assert/strict";
import { judgeEngineLock } from "../../../cli/engine/remote-lock";
import { judgeLock } from "../../../cli/engine/stack-lock";

const HEAD = (count: number) =>
  `error: the stack is currently locked by ${count} lock(s). Either wait for the other process(es) to end or delete the lock file with \`pulumi cancel\`.`;
const URL =
  "postgres://ops:secret@db:5432/state/.pulumi/locks/organization/foresail/prod/7c2a4e5c.json?sslmode=disable";
const holder = (who: string, pid: number) =>
  `  ${URL}: created by ${who} (pid ${pid}) at 2026-03-04T05:06:07Z`;

/** On this host only process 1 is alive. */
const judge = (text: string) => judgeLock(text, "build-3", (pid) => ({ alive: pid === 1 }));

describe("a lock that the engine reports", () => {
  const rows: [string, string, string | undefined][] = [
    ["is none in another error", "error: no stack named 'prod' found", undefined],
    ["of a dead process of this host is dead", `${HEAD(1)}\n${holder("ana@build-3", 7)}\n`, "dead"],
    ["of a living process of this host is held", `${HEAD(1)}\n${holder("ana@build-3", 1)}`, "held"],
    ["of another host is never judged", `${HEAD(1)}\n${holder("ana@laptop", 7)}`, "unknown"],
    ["of a user with an @ in the name is read", `${HEAD(1)}\n${holder("ana@corp@build-3", 7)}`, "dead"],
    ["is never judged when its line can't be read", `${HEAD(1)}\n  something else`, "unknown"],
    [
      "is held when one of two is",
      `${HEAD(2)}\n${holder("ana@laptop", 7)}\n${holder("ana@build-3", 1)}`,
      "held",
    ],
    ["is never judged when one of two can't be read", `${HEAD(2)}\n${holder("ana@build-3", 7)}`, "unknown"],
    [
      "of Pulumi Cloud is never judged",
      "error: [409] Conflict: Another update is currently in progress.",
      "unknown",
    ],
  ];
  for (const [name, output, kind] of rows)
    it(name, () => assert.equal(judgeEngineLock(output, judge)?.kind, kind));

  it("names its holder, and not the password of the backend", () => {
    const { because = "" } = judgeEngineLock(`${HEAD(1)}\n${holder("ana@laptop", 7)}`, judge) ?? {};
    assert.match(because, /process 7 of user ana on host laptop, since 2026-03-04T05:06:07Z/);
    assert.doesNotMatch(because, /secret|postgres/);
  });
});
