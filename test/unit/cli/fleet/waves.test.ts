import assert from "node:assert/strict";
import fc from "fast-check";
import type { Fleet } from "../../../../cli/fleet/plan/fleet";
import {
  nextOf,
  NOTHING_DONE,
  type Progress,
  resumed,
  type StackState,
} from "../../../../cli/fleet/plan/waves";
import { type FleetEnd, runWaves } from "../../../../cli/fleet/run/waves-runner";

const GATE = { approval: true, commandSeconds: 1 };

/** A fleet of waves with this many stacks each; the number says whether a gate follows. */
const fleetOf = (
  waves: readonly (readonly [size: number, hasGate: boolean])[],
  rest: Omit<Fleet, "waves">,
): Fleet => ({
  ...rest,
  waves: waves.map(([size, hasGate], wave) => ({
    name: `wave-${wave}`,
    stacks: Array.from({ length: size }, (_, index) => `s-${wave}-${index}`),
    ...(hasGate && { gate: GATE }),
  })),
});

const anyFleet = fc
  .tuple(
    fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()), { minLength: 1, maxLength: 4 }),
    fc.integer({ min: 1, max: 3 }),
    fc.constantFrom("stop" as const, "continue" as const),
  )
  .map(([waves, maxParallel, onFailure]) => fleetOf(waves, { maxParallel, onFailure }));

/** Runs a fleet whose named stacks and gates fail; work ends in an order that a list of numbers decides. */
class Simulation {
  progress: Progress = NOTHING_DONE;
  begun: string[] = [];
  private readonly open: { id: string; end: () => void }[] = [];
  most = 0;

  constructor(
    readonly fleet: Fleet,
    private readonly failing: ReadonlySet<string>,
    private readonly order: readonly number[],
  ) {}

  /** @param limit number of endings after which the run is killed: nothing it would do later happens */
  async run(limit = Infinity): Promise<FleetEnd | "killed"> {
    const stop = new AbortController();
    const work = {
      stack: (name: string) => this.begin<Exclude<StackState, "running">>(name, "done"),
      gate: (wave: string) => this.begin<"passed" | "failed">(wave, "passed"),
      save: (progress: Progress) => {
        if (!stop.signal.aborted) this.progress = progress;
        return Promise.resolve();
      },
    };
    let end: FleetEnd | undefined;
    void runWaves(this.fleet, resumed(this.progress), work, stop.signal).then((how) => (end = how));
    for (let endings = 0; endings < limit; endings += 1) {
      await new Promise(setImmediate);
      if (end !== undefined) return end;
      assert.ok(this.open.length > 0, "the run neither ended nor has work");
      const [one] = this.open.splice((this.order[endings % this.order.length] ?? 0) % this.open.length, 1);
      one?.end();
    }
    stop.abort();
    while (end === undefined) {
      this.open.splice(0).forEach(({ end }) => end());
      await new Promise(setImmediate);
    }
    return "killed";
  }

  private begin<State>(id: string, well: State): Promise<State | "failed"> {
    this.begun.push(id);
    const promise = new Promise<State | "failed">((resolve) =>
      this.open.push({ id, end: () => resolve(this.failing.has(id) ? "failed" : well) }),
    );
    this.most = Math.max(this.most, this.open.filter((one) => one.id.startsWith("s-")).length);
    return promise;
  }
}

const order = fc.array(fc.nat(5), { minLength: 1, maxLength: 6 });
const idsOf = ({ waves }: Fleet) => waves.flatMap(({ name, stacks }) => [name, ...stacks]);
const failing = (fleet: Fleet) => fc.subarray(idsOf(fleet), { maxLength: 2 }).map((ids) => new Set(ids));

describe("waves of a fleet", function () {
  this.timeout(60_000);

  it("begin after the gate of the wave before, with at most maxParallel stacks at once (property)", async () => {
    const scenario = anyFleet.chain((fleet) => fc.tuple(fc.constant(fleet), failing(fleet), order));
    await fc.assert(
      fc.asyncProperty(scenario, async ([fleet, wrong, endings]) => {
        const run = new Simulation(fleet, wrong, endings);
        const end = await run.run();
        assert.ok(run.most <= fleet.maxParallel);
        const fails = run.begun.some((id) => wrong.has(id));
        assert.equal(end, fails ? "failed" : "done");
        fleet.waves.forEach(({ stacks, name, gate }, index) => {
          const first = Math.min(...stacks.map((stack) => run.begun.indexOf(stack)).filter((at) => at >= 0));
          const before = fleet.waves[index - 1];
          if (first === Infinity || before === undefined) return;
          const earlier = [...before.stacks, ...(before.gate ? [before.name] : [])];
          for (const id of earlier) {
            assert.ok(run.begun.indexOf(id) >= 0 && run.begun.indexOf(id) < first, `${id} before ${name}`);
            const isGate = id === before.name;
            if (isGate || fleet.onFailure === "stop") assert.equal(wrong.has(id), false);
          }
          assert.equal(new Set(run.begun).size, run.begun.length);
          assert.ok(gate === undefined || run.begun.lastIndexOf(name) <= run.begun.length);
        });
      }),
    );
  });

  it("end in the same state when the run is killed anywhere and continued (property)", async () => {
    const scenario = anyFleet.chain((fleet) => fc.tuple(fc.constant(fleet), order, fc.nat(12)));
    await fc.assert(
      fc.asyncProperty(scenario, async ([fleet, endings, limit]) => {
        const whole = new Simulation(fleet, new Set(), endings);
        await whole.run();
        const killed = new Simulation(fleet, new Set(), endings);
        if ((await killed.run(limit)) === "killed") {
          const done = Object.entries(killed.progress.stacks).filter(([, state]) => state === "done");
          killed.begun = [];
          assert.equal(await killed.run(), "done");
          for (const [stack] of done) assert.equal(killed.begun.includes(stack), false, `${stack} ran again`);
        }
        assert.deepEqual(killed.progress, whole.progress);
      }),
    );
  });

  it("stop after a failure, or go on with the other stacks", () => {
    const stacks = { "s-0-0": "failed" } as const;
    const fleet = fleetOf(
      [
        [1, false],
        [1, false],
      ],
      { maxParallel: 2, onFailure: "stop" },
    );
    assert.deepEqual(nextOf(fleet, { stacks, gates: {} }), { stacks: [], end: "failed" });
    assert.deepEqual(nextOf({ ...fleet, onFailure: "continue" }, { stacks, gates: {} }), {
      stacks: ["s-1-0"],
    });
  });

  it("begin no stack while their window is closed, and wait or end there", async () => {
    const fleet = fleetOf(
      [
        [2, false],
        [1, false],
      ],
      { maxParallel: 1, onFailure: "stop" },
    );
    const closed = new Set(["s-0-0", "s-0-1"]);
    const begun = { "s-0-0": "done", "s-0-1": "running" } as const;
    assert.deepEqual(nextOf(fleet, NOTHING_DONE, closed), { stacks: [], closed: ["s-0-0", "s-0-1"] });
    assert.deepEqual(nextOf(fleet, { stacks: { "s-0-0": "running" }, gates: {} }, closed), { stacks: [] });
    assert.deepEqual(nextOf(fleet, { stacks: begun, gates: {} }, closed), { stacks: [] });
    assert.deepEqual(nextOf(fleet, NOTHING_DONE, new Set(["s-1-0"])), { stacks: ["s-0-0"] });
    // another one begins instead, and what is closed is awaited while there is room for it
    assert.deepEqual(nextOf(fleet, NOTHING_DONE, new Set(["s-0-0"])), { stacks: ["s-0-1"] });
    assert.deepEqual(nextOf({ ...fleet, maxParallel: 2 }, NOTHING_DONE, new Set(["s-0-0"])), {
      ...{ stacks: ["s-0-1"], closed: ["s-0-0"] },
    });
    for (const opens of [true, false]) {
      const shut = new Set(["s-1-0"]);
      const asked: string[] = [];
      const begun: string[] = [];
      const work = {
        stack: (name: string) => Promise.resolve(begun.push(name)).then(() => "done" as const),
        gate: () => Promise.resolve("passed" as const),
        save: () => Promise.resolve(),
        closed: () => shut,
        opening: (stacks: readonly string[]) => {
          asked.push(...stacks);
          if (opens) shut.clear();
          return Promise.resolve(opens);
        },
      };
      const end = await runWaves(fleet, NOTHING_DONE, work, new AbortController().signal);
      assert.equal(end, opens ? "done" : "waiting");
      assert.deepEqual(asked, ["s-1-0"]);
      assert.deepEqual(begun, ["s-0-0", "s-0-1", ...(opens ? ["s-1-0"] : [])]);
    }
  });

  it("wait for approval without losing what is done, also when work ends while the progress is saved", async () => {
    const fleet = fleetOf(
      [
        [1, true],
        [1, false],
      ],
      { maxParallel: 2, onFailure: "stop" },
    );
    let saved = NOTHING_DONE;
    const work = {
      stack: () => Promise.resolve("done" as const),
      gate: () => Promise.resolve("waiting" as const),
      save: async (progress: Progress) => {
        await new Promise(setImmediate);
        saved = progress;
      },
    };
    assert.equal(await runWaves(fleet, NOTHING_DONE, work, new AbortController().signal), "waiting");
    assert.deepEqual(saved, { stacks: { "s-0-0": "done" }, gates: {} });
  });
});
