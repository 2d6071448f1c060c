import assert from "node:assert/strict";
import fc from "fast-check";
import type { Fleet } from "../../../../cli/fleet/plan/fleet";
import { estimateSeconds, timelineOf } from "../../../../cli/fleet/plan/timeline";

const anyFleet: fc.Arbitrary<Fleet> = fc
  .tuple(
    fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.option(fc.nat({ max: 100 }))), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.integer({ min: 1, max: 4 }),
  )
  .map(([waves, maxParallel]) => ({
    ...{ maxParallel, onFailure: "stop" },
    waves: waves.map(([size, soak], wave) => ({
      name: `wave-${wave}`,
      stacks: Array.from({ length: size }, (_, index) => `s-${wave}-${index}`),
      ...(soak !== null && { gate: { soakSeconds: soak, approval: false, commandSeconds: 1 } }),
    })),
  }));

describe("the timeline of a fleet", () => {
  it("begins each stack once, after the wave before, and never more at once than may run", () => {
    fc.assert(
      fc.property(
        anyFleet,
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1 }),
        (fleet, lengths) => {
          const lengthOf = (name: string) => lengths[(name.codePointAt(4) ?? 0) % lengths.length] ?? 1;
          const spans = timelineOf(fleet, lengthOf);
          const stacks = spans.filter(({ kind }) => kind === "stack");
          assert.deepEqual(
            stacks.map(({ name }) => name).sort(),
            fleet.waves.flatMap((wave) => wave.stacks).sort(),
          );
          let end = 0;
          for (const wave of fleet.waves) {
            const own = spans.filter(({ kind, name }) =>
              kind === "gate" ? name === wave.name : wave.stacks.includes(name),
            );
            assert.ok(own.every(({ from }) => from >= end));
            end = Math.max(...own.map(({ to }) => to));
          }
          for (const { from, to, name } of stacks) {
            assert.equal(to - from, lengthOf(name));
            const beside = stacks.filter((other) => other.from <= from && other.to > from);
            assert.ok(beside.length <= fleet.maxParallel);
          }
        },
      ),
    );
  });

  it("estimates by the median time of a step, of the stack itself or else of all", () => {
    const history = {
      eu1: [
        { seconds: 100, steps: 10 },
        { seconds: 40, steps: 2 },
        { seconds: 900, steps: 10 },
      ],
      eu2: [{ seconds: 5, steps: 0 }],
    };
    assert.equal(estimateSeconds(history, "eu1", 3), 60);
    assert.equal(estimateSeconds(history, "eu2", 0), 5);
    assert.equal(estimateSeconds({ eu2: history.eu2 }, "us1", 4), 20);
    for (const name of ["eu1", "constructor"]) assert.equal(estimateSeconds({}, name, 4), undefined);
  });
});
