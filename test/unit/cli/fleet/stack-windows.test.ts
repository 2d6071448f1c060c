import assert from "node:assert/strict";
import fc from "fast-check";
import type { Fleet } from "../../../../cli/fleet/plan/fleet";
import { waitUnless } from "../../../../lib/abort";
import { NOTHING_DONE, type Progress, resumed } from "../../../../cli/fleet/plan/waves";
import { isOpen, type Window, windowOf } from "../../../../cli/fleet/plan/window";
import { type FleetEnd, runWaves } from "../../../../cli/fleet/run/waves-runner";
import { windowsOf } from "../../../../cli/fleet/run/windows";

const HOUR = 3_600_000;
const NOON = Date.parse("2026-11-23T12:00:00Z");
const AGAIN = "foresail fleet up --continue";
const hour = (number: number) => `${String(number % 24).padStart(2, "0")}:00`;

/** Runs a fleet by a clock of its own, which goes on only when everything waits. */
class ClockedRun {
  now = NOON;
  progress: Progress = NOTHING_DONE;
  readonly begun: { stack: string; at: number }[] = [];
  readonly lines: string[] = [];
  most = 0;
  private running = 0;
  private readonly alarms: { at: number; ring: () => void }[] = [];

  /** @param hours how long each stack takes */
  constructor(
    private readonly fleet: Fleet,
    private readonly hours: Readonly<Record<string, number>>,
  ) {}

  private async until(at: number): Promise<void> {
    await new Promise<void>((ring) => this.alarms.push({ at, ring }));
  }

  /** @param killed number of alarms after which the run is killed: nothing it would do later counts */
  async run(killed = Infinity): Promise<FleetEnd | "killed"> {
    const stop = { aborted: false };
    const windows = windowsOf(this.fleet, {
      ...{ again: AGAIN, say: (line) => this.lines.push(line), now: () => new Date(this.now) },
      wait: (milliseconds, ended) =>
        Promise.race([this.until(this.now + milliseconds), ...(ended ? [ended] : [])]).then(
          () => !stop.aborted,
        ),
      longestWait: 24 * HOUR,
    });
    const work = {
      ...windows,
      stack: async (stack: string) => {
        this.begun.push({ stack, at: this.now });
        this.most = Math.max(this.most, (this.running += 1));
        await this.until(this.now + (this.hours[stack] ?? 0) * HOUR);
        this.running -= 1;
        return "done" as const;
      },
      gate: () => Promise.resolve("passed" as const),
      save: (progress: Progress) => {
        if (!stop.aborted) this.progress = progress;
        return Promise.resolve();
      },
    };
    let end: FleetEnd | undefined;
    void runWaves(this.fleet, resumed(this.progress), work, stop).then((how) => (end = how));
    for (let alarms = 0; ; alarms += 1) {
      await new Promise(setImmediate);
      if (end !== undefined) return stop.aborted ? "killed" : end;
      assert.ok(this.alarms.length > 0, "the run neither ended nor waits for anything");
      assert.ok(alarms < 1_000, "the run never ends");
      stop.aborted ||= alarms >= killed;
      this.alarms.sort((one, other) => one.at - other.at);
      const next = this.alarms.shift();
      if (!stop.aborted) this.now = Math.max(this.now, next?.at ?? 0);
      next?.ring();
    }
  }

  /** Runs to the end, again whenever a window that a message names has opened. */
  async runToTheEnd(): Promise<void> {
    for (let runs = 0; runs <= Object.keys(this.hours).length; runs += 1) {
      const end = await this.run();
      if (end === "done") return;
      assert.equal(end, "waiting");
      const until = this.lines
        .filter((line) => line.endsWith(`; to go on then: ${AGAIN}`))
        .map((line) => / is closed until (\S+); /.exec(line)?.[1] ?? "")
        .map((text) => Date.parse(text))
        .filter((time) => time > this.now);
      assert.ok(until.length > 0, `no message says when to go on:\n${this.lines.join("\n")}`);
      this.now = Math.min(...until);
    }
    assert.fail("the run begins nothing when its windows have opened");
  }
}

const anyWindow = fc
  .record({
    first: fc.nat(23),
    length: fc.integer({ min: 1, max: 23 }),
    timeZone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York"),
    outside: fc.constantFrom("stop" as const, "wait" as const),
  })
  .map(({ first, length, ...rest }): Window => ({ from: hour(first), to: hour(first + length), ...rest }));

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const scenario = fc
  .tuple(
    fc.array(fc.tuple(fc.array(maybe(anyWindow), { minLength: 1, maxLength: 3 }), maybe(anyWindow)), {
      ...{ minLength: 1, maxLength: 3 },
    }),
    fc.integer({ min: 1, max: 3 }),
    fc.array(fc.nat(30), { minLength: 9, maxLength: 9 }),
  )
  .map(([waves, maxParallel, lengths]) => {
    const fleet: Fleet = {
      ...{ maxParallel, onFailure: "stop" },
      waves: waves.map(([own, window], index) => ({
        name: `wave-${index}`,
        stacks: own.map((_, at) => `s-${index}-${at}`),
        window,
        windows: Object.fromEntries(
          own.flatMap((one, at) => (one === undefined ? [] : [[`s-${index}-${at}`, one]])),
        ),
      })),
    };
    const stacks = fleet.waves.flatMap((wave) => wave.stacks);
    return { fleet, hours: Object.fromEntries(stacks.map((stack, at) => [stack, lengths[at] ?? 0])) };
  });

const windowsByStack = ({ waves }: Fleet) =>
  new Map(waves.flatMap((wave) => wave.stacks.map((stack) => [stack, windowOf(wave, stack)] as const)));

describe("windows of stacks", function () {
  this.timeout(120_000);

  it("are kept by every run, which ends, or waits with a message that says until when (property)", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ fleet, hours }) => {
        const run = new ClockedRun(fleet, hours);
        await run.runToTheEnd();
        const windows = windowsByStack(fleet);
        for (const { stack, at } of run.begun) {
          const window = windows.get(stack);
          assert.ok(
            window === undefined || isOpen(window, new Date(at)),
            `${stack} at ${new Date(at).toISOString()}`,
          );
        }
        assert.ok(run.most <= fleet.maxParallel);
        assert.deepEqual(run.begun.map(({ stack }) => stack).sort(), [...windows.keys()].sort());
      }),
      { numRuns: 60 },
    );
  });

  it("give the same final state when a run is killed anywhere and continued (property)", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, fc.nat(12), async ({ fleet, hours }, killed) => {
        const whole = new ClockedRun(fleet, hours);
        await whole.runToTheEnd();
        const run = new ClockedRun(fleet, hours);
        await run.run(killed);
        const done = Object.keys(resumed(run.progress).stacks);
        const before = run.begun.length;
        await run.runToTheEnd();
        const again = run.begun.slice(before).map(({ stack }) => stack);
        assert.deepEqual(
          again.filter((stack) => done.includes(stack)),
          [],
        );
        assert.deepEqual(run.progress, whole.progress);
      }),
      { numRuns: 60 },
    );
  });

  const window = (from: string, to: string, rest: Partial<Window> = {}): Window => ({
    ...{ from, to, timeZone: "UTC", outside: "wait" },
    ...rest,
  });
  const fleetOf = (windows: Record<string, Window>, wave?: Window): Fleet => ({
    ...{ maxParallel: 2, onFailure: "stop" },
    waves: [{ name: "all", stacks: ["eu", "us", "ap"], window: wave, windows }],
  });

  it("open while other stacks of the wave run, which do not delay them", async () => {
    const run = new ClockedRun(fleetOf({ us: window("14:00", "15:00"), ap: window("13:00", "14:00") }), {
      ...{ eu: 20, us: 1, ap: 1 },
    });
    assert.equal(await run.run(), "done");
    assert.deepEqual(
      run.begun.map(({ stack, at }) => [stack, (at - NOON) / HOUR]),
      [
        ["eu", 0],
        ["ap", 1],
        ["us", 2],
      ],
    );
    assert.deepEqual(run.lines, [
      "us: its window, 14:00 to 15:00 UTC, is closed; waiting until 2026-11-23T14:00:00.000Z",
      "ap: its window, 13:00 to 14:00 UTC, is closed; waiting until 2026-11-23T13:00:00.000Z",
    ]);
  });

  it("count instead of that of the wave, and end a run only when nothing else can be awaited", async () => {
    const late = window("02:00", "03:00", { outside: "stop" });
    const run = new ClockedRun(fleetOf({ us: late, ap: { ...late } }, window("20:00", "21:00")), {
      ...{ eu: 1, us: 1, ap: 1 },
    });
    assert.equal(await run.run(), "waiting");
    assert.deepEqual(
      run.begun.map(({ stack, at }) => [stack, (at - NOON) / HOUR]),
      [["eu", 8]],
    );
    const closed = "us, ap: their window, 02:00 to 03:00 UTC, is closed until 2026-11-24T02:00:00.000Z";
    assert.deepEqual(run.lines, [
      "wave all: its window, 20:00 to 21:00 UTC, is closed; waiting until 2026-11-23T20:00:00.000Z",
      closed,
      `${closed}; to go on then: ${AGAIN}`,
    ]);
  });

  it("do not hide an error of a stack that ends while they are awaited", async () => {
    const closed = fleetOf({ us: window("14:00", "15:00"), ap: window("14:00", "15:00") });
    const stop = new AbortController();
    const windows = windowsOf(closed, {
      ...{ again: AGAIN, say: () => undefined, now: () => new Date(NOON), wait: waitUnless(stop.signal) },
    });
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const work = {
      closed: windows.closed,
      opening: (stacks: readonly string[], ended?: Promise<void>) => {
        isAsked();
        return windows.opening(stacks, ended);
      },
      stack: () => asked.then(() => Promise.reject(new Error("no process"))),
      gate: () => Promise.resolve("passed" as const),
      save: () => Promise.resolve(),
    };
    await assert.rejects(runWaves(closed, NOTHING_DONE, work, stop.signal), { message: "no process" });
    stop.abort();
  });
});
