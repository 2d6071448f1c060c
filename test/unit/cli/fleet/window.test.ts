import assert from "node:assert/strict";
import fc from "fast-check";
import type { Fleet } from "../../../../cli/fleet/plan/fleet";
import { isOpen, nextOpening, type Window, windowWords } from "../../../../cli/fleet/plan/window";
import { windowsOf } from "../../../../cli/fleet/run/windows";
import { waitUnless } from "../../../../lib/abort";

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Apia",
];
const window = (from: string, to: string, rest: Partial<Window> = {}): Window => ({
  ...{ from, to, timeZone: "UTC", outside: "stop" },
  ...rest,
});

const MINUTE = 60_000;
const clockTime = fc
  .nat(24 * 60 - 1)
  .map((minute) =>
    [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0")).join(":"),
  );
const instant = fc
  .integer({ min: Date.parse("2026-01-01T00:00:00Z"), max: Date.parse("2028-01-01T00:00:00Z") })
  .map((time) => new Date(time));
const anyWindow = fc
  .record({
    from: clockTime,
    to: clockTime,
    timeZone: fc.constantFrom(...ZONES),
    days: fc.option(fc.subarray([...DAYS], { minLength: 1 }), { nil: undefined }),
  })
  .map((fields): Window => ({ ...fields, outside: "stop" }));

describe("the window of a wave", () => {
  const berlin = { timeZone: "Europe/Berlin" };
  const cases: [at: string, of: Window, open: boolean, opens: string | undefined][] = [
    // 2026-11-23 is a Monday
    ["2026-11-23T09:00:00Z", window("09:00", "17:00"), true, "2026-11-23T09:00:00.000Z"],
    ["2026-11-23T08:59:59Z", window("09:00", "17:00"), false, "2026-11-23T09:00:00.000Z"],
    ["2026-11-23T17:00:00Z", window("09:00", "17:00"), false, "2026-11-24T09:00:00.000Z"],
    ["2026-11-23T12:00:00Z", window("09:00", "17:00", { days: ["sun"] }), false, "2026-11-29T09:00:00.000Z"],
    // over midnight: the day is that on which it begins
    ["2026-11-24T03:59:59Z", window("22:00", "04:00", { days: ["mon"] }), true, "2026-11-24T03:59:59.000Z"],
    ["2026-11-23T03:00:00Z", window("22:00", "04:00", { days: ["mon"] }), false, "2026-11-23T22:00:00.000Z"],
    ["2026-11-23T03:00:00Z", window("22:00", "04:00", { days: ["sun"] }), true, "2026-11-23T03:00:00.000Z"],
    // a whole day
    ["2026-11-24T11:59:00Z", window("12:00", "12:00", { days: ["mon"] }), true, "2026-11-24T11:59:00.000Z"],
    ["2026-11-24T12:00:00Z", window("12:00", "12:00", { days: ["mon"] }), false, "2026-11-30T12:00:00.000Z"],
    // the zone's own time and day
    ["2026-11-23T21:30:00Z", window("22:00", "23:00", berlin), true, "2026-11-23T21:30:00.000Z"],
    [
      "2026-11-22T23:30:00Z",
      window("00:00", "01:00", { ...berlin, days: ["mon"] }),
      true,
      "2026-11-22T23:30:00.000Z",
    ],
    // summer time begins on 2026-03-29: 02:00 is 03:00
    ["2026-03-29T00:59:00Z", window("02:30", "05:00", berlin), false, "2026-03-29T01:00:00.000Z"],
    ["2026-03-28T23:00:00Z", window("02:15", "02:45", berlin), false, "2026-03-30T00:15:00.000Z"],
    // and ends on 2026-10-25: 02:30 is there twice
    ["2026-10-25T00:30:00Z", window("02:00", "03:00", berlin), true, "2026-10-25T00:30:00.000Z"],
    ["2026-10-25T01:30:00Z", window("02:00", "03:00", berlin), true, "2026-10-25T01:30:00.000Z"],
    ["2026-10-25T02:00:00Z", window("02:00", "03:00", berlin), false, "2026-10-26T01:00:00.000Z"],
    // the only time of a week is skipped once
    [
      "2026-03-23T12:00:00Z",
      window("02:15", "02:45", { ...berlin, days: ["sun"] }),
      false,
      "2026-04-05T00:15:00.000Z",
    ],
  ];
  for (const [at, of, open, opens] of cases)
    it(`${windowWords(of)} is ${open ? "open" : "closed"} at ${at}`, () => {
      assert.equal(isOpen(of, new Date(at)), open);
      assert.equal(nextOpening(of, new Date(at))?.toISOString(), opens);
    });

  it("is closed exactly when the window from its end to its beginning is open, in every zone (property)", () => {
    fc.assert(
      fc.property(anyWindow, instant, ({ days: _, ...of }, at) => {
        if (of.from === of.to) return assert.equal(isOpen(of, at), true);
        assert.equal(isOpen(of, at), !isOpen({ ...of, from: of.to, to: of.from }, at));
      }),
    );
  });

  it("is open when it opens next, and closed until then (property)", () => {
    fc.assert(
      fc.property(anyWindow, instant, fc.double({ min: 0, max: 1, noNaN: true }), (of, at, part) => {
        const opens = nextOpening(of, at);
        assert.ok(opens !== undefined && opens >= at);
        assert.ok(isOpen(of, opens));
        if (opens.getTime() === at.getTime()) return;
        assert.equal(
          isOpen(of, new Date(opens.getTime() - MINUTE)) && opens.getTime() - MINUTE >= at.getTime(),
          false,
        );
        const between = at.getTime() + part * (opens.getTime() - 1 - at.getTime());
        assert.equal(isOpen(of, new Date(between)), false);
      }),
      { numRuns: 40 },
    );
  });

  const fleet = (outside: Window["outside"]): Fleet => ({
    ...{ maxParallel: 1, onFailure: "stop" },
    waves: [
      { name: "night", stacks: ["a"], window: window("22:00", "04:00", { outside }) },
      { name: "rest", stacks: ["b"] },
    ],
  });

  it("ends a run with the time at which it opens and the command that goes on then", async () => {
    const lines: string[] = [];
    const { closed, opening } = windowsOf(fleet("stop"), {
      again: "foresail fleet up --continue",
      say: (line) => lines.push(line),
      wait: () => Promise.resolve(false),
      now: () => new Date("2026-11-23T12:00:00Z"),
    });
    assert.deepEqual([...closed()], ["a"]);
    assert.equal(await opening(["a"]), false);
    assert.equal(await opening(["b"]), true);
    assert.deepEqual(lines, [
      "wave night: its window, 22:00 to 04:00 UTC, is closed until 2026-11-23T22:00:00.000Z; to go on then: foresail fleet up --continue",
    ]);
  });

  it("is awaited when the wave says so, until an interrupt", async () => {
    const stop = new AbortController();
    let time = Date.parse("2026-11-23T21:59:59.950Z");
    const lines: string[] = [];
    const windows = windowsOf(fleet("wait"), {
      ...{ again: "", wait: waitUnless(stop.signal), say: (line) => lines.push(line) },
      now: () => new Date((time += 20)),
    });
    assert.equal(await windows.opening(["a"]), true);
    assert.match(lines[0] ?? "", /; waiting until 2026-11-23T22:00:00\.000Z$/);
    time = Date.parse("2026-11-23T12:00:00Z");
    const waiting = windows.opening(["a"]);
    stop.abort();
    assert.equal(await waiting, false);
  });
});
