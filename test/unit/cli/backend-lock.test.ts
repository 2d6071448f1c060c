import assert from "node:assert/strict";
import fc from "fast-check";
import { judgeLock, type LockProcess } from "../../../cli/engine/stack-lock";

const taken = "2026-03-04T05:06:07.123456789Z";
const lock = { pid: 4711, username: "ana", hostname: "build-3", timestamp: taken };
const after = (seconds: number): LockProcess => ({
  alive: true,
  startedAt: new Date(Date.parse(taken) + seconds * 1000),
});

const judge = (given: unknown, host: string, holder: LockProcess) =>
  judgeLock(typeof given === "string" ? given : JSON.stringify(given), host, () => holder);

describe("a backend lock", () => {
  const rows: [string, Parameters<typeof judge>, string][] = [
    ["of a dead process of this host is dead", [lock, "build-3", { alive: false }], "dead"],
    ["of a living process that started before it is held", [lock, "build-3", after(-60)], "held"],
    ["whose process number was given to a younger process is dead", [lock, "build-3", after(3600)], "dead"],
    ["is held when the start differs by the clock's rounding only", [lock, "build-3", after(2)], "held"],
    ["is held when the start of a living process is not known", [lock, "build-3", { alive: true }], "held"],
    ["of another host is never judged", [lock, "laptop", { alive: false }], "unknown"],
    ["that can't be read is never judged", ["", "build-3", { alive: false }], "unknown"],
    [
      "with an unreadable time and a living process is held",
      [{ ...lock, timestamp: "yesterday" }, "build-3", after(3600)],
      "held",
    ],
  ];
  for (const [name, given, kind] of rows) {
    it(name, () => assert.equal(judge(...given).kind, kind));
  }

  it("names its holder in every verdict", () => {
    for (const holder of [{ alive: false } as const, after(-60), after(3600)]) {
      assert.match(judge(lock, "build-3", holder).because, /process 4711 of user ana on host build-3/);
    }
  });

  it("of another host is never judged dead, whatever process has its PID here", () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), fc.date({ noInvalidDate: true }), (host, alive, startedAt) => {
        fc.pre(host !== lock.hostname);
        return judge(lock, host, alive ? { alive, startedAt } : { alive }).kind === "unknown";
      }),
    );
  });
});

describe("reading a backend lock", () => {
  it("accepts one without a user's name", () => {
    const { because } = judge({ ...lock, username: undefined }, "build-3", { alive: false });
    assert.match(because, /^process 4711 of user unknown on host build-3, since 2026-03-04/);
  });

  for (const text of ["", "{", "[]", "null", '{"pid":"1"}', '{"pid":-1,"hostname":"a","timestamp":"b"}'])
    it(`never judges ${JSON.stringify(text)}`, () =>
      assert.deepEqual(judge(text, "a", { alive: false }), {
        kind: "unknown",
        because: "the lock file cannot be read",
      }));
});
