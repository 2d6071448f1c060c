import assert from "node:assert/strict";
import fc from "fast-check";
import { isByAnOrphan, type KillMode, untilOrphansEnd, upKilledWhen } from "./killed-up";
import { deedOf, NEW, OLD, versionRollout } from "./version-rollout";
import { byNight } from "../left-out";

const MACHINES = ["cp-1", "cp-2", "cp-3", "w-1"];
/** What happens on each node, in this order; each is a step to be killed at. */
const DEEDS = ["opened", "cordoned", "evicted", "asked", "ready=false", "upgraded", "ready=true", "closed"];
/**
 * By default the run is killed once at every step, in one of two ways, alternating, and on the first control plane and a
 * worker in turn; with `--all` on both in both ways, and on the second control plane, too. The third is upgraded as the
 * second is. Kills in any order are tested without the engine (rollout.property.test.ts).
 */
const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
const KILLED_ON = ALL_TESTS ? ["cp-1", "cp-2", "w-1"] : ["cp-1", "w-1"];
const POINTS = KILLED_ON.flatMap((node) => DEEDS.map((deed) => `${deed} ${node}`));
/** Whether a run is killed at a point by default; {@link POINTS} has the steps of one node after those of the other. */
const isByDefault = (at: number) => Math.floor(at / 2) % 2 === Math.floor(at / DEEDS.length);
const DOUBLE_KILLS = ALL_TESTS ? 3 : 1;
const SEED = Number(process.env.FORESAIL_SEED ?? 4);

/** Whether the write at which the engine is killed takes effect. */
type Fate = "before" | "after";

describe("a rollout whose engine is killed", function () {
  this.timeout(1_200_000);
  byNight("rollout.test.ts kills one run by day");
  const rollout = versionRollout(MACHINES);
  let listed: string[] | undefined;
  let expected: unknown;

  before(async () => {
    listed = await rollout.steps();
    await rollout.ground.stack.up();
    expected = await rollout.whatIsLeft();
  });

  /** Runs `up` until it is killed at the first write that is a point. @returns the write, or undefined at its end */
  async function upKilledAt(
    mode: KillMode,
    fate: Fate,
    isPoint: (name: string) => boolean,
  ): Promise<string | undefined> {
    const { gate, ground: fixture } = rollout;
    gate.expectRun((write) => POINTS.includes(deedOf(write)) && isPoint(deedOf(write)));
    const up = await upKilledWhen(fixture.stack, mode, () => gate.held);
    if (!up.killed) {
      assert.equal(up.exitCode, 0, up.output);
      return undefined;
    }
    const { write, answer } = up.killed;
    const from = gate.writes.length;
    gate.expectNoRun();
    // an agent keeps running, whatever else is killed
    answer(write.byAgent || fate === "after");
    if (mode === "pulumi alone") {
      await untilOrphansEnd(up.orphans);
      const late = gate.writes.slice(from).filter(({ byAgent, at }) => !byAgent && isByAnOrphan(up, at));
      assert.deepEqual(late.map(deedOf), [], `killed at ${deedOf(write)}: an orphan began another step`);
    }
    assert.match((await fixture.stack.clearDeadLocks())[0] ?? "", /^cleared the lock/);
    return deedOf(write);
  }

  it("is previewed exactly as it is observed, with every step on every node", () => {
    assert.deepEqual(listed, [
      `cp-1 ${OLD} → ${NEW} (cordon, drain, kubeadm upgrade apply, uncordon)`,
      `cp-2 ${OLD} → ${NEW} (cordon, drain, kubeadm upgrade node, uncordon)`,
      `cp-3 ${OLD} → ${NEW} (cordon, drain, kubeadm upgrade node, uncordon)`,
      `w-1 ${OLD} → ${NEW} (cordon, drain, kubeadm upgrade node, uncordon)`,
    ]);
    rollout.expectDone(listed);
    assert.deepEqual(
      rollout.deeds.filter((deed) => POINTS.includes(deed)),
      POINTS,
    );
  });

  for (const [index, [mode, fate]] of (
    [
      ["the whole tree", "before"],
      ["pulumi alone", "after"],
    ] as const
  ).entries())
    it(`reaches the same end, ${mode} killed ${fate} each step in turn`, async () => {
      const points = POINTS.filter((_point, at) => ALL_TESTS || (at % 2 === index && isByDefault(at)));
      await rollout.startOver();
      const met: string[] = [];
      for (;;) {
        const isPoint = (point: string) => points.includes(point) && !met.includes(point);
        const name = await upKilledAt(mode, fate, isPoint);
        if (name === undefined) break;
        met.push(name);
      }
      assert.deepEqual(met, points);
      rollout.expectDone(listed);
      assert.deepEqual(await rollout.whatIsLeft(), expected);
      assert.deepEqual(Object.keys(await rollout.ground.stack.up()), ["unchanged"]);
    });

  it(`reaches the same end when two runs are killed, at ${DOUBLE_KILLS} pairs of steps drawn by seed ${SEED}`, async () => {
    const kill = fc
      .record({
        mode: fc.constantFrom<KillMode>("the whole tree", "pulumi alone"),
        fate: fc.constantFrom<Fate>("before", "after"),
        point: fc.nat(POINTS.length - 1),
      })
      // the API server drops a request that it has admitted when its client dies before it is answered
      .filter(({ mode, fate }) => mode === "pulumi alone" || fate === "before");
    const pair = fc
      .tuple(kill, kill)
      .filter(([one, other]) => one.point !== other.point)
      .map((kills) => kills.sort((one, other) => one.point - other.point));
    for (const kills of fc.sample(pair, { seed: SEED, numRuns: DOUBLE_KILLS })) {
      const words = kills.map(({ mode, fate, point }) => `${mode} ${fate} ${POINTS[point]}`).join(", then ");
      try {
        await rollout.startOver();
        for (const { mode, fate, point } of kills)
          assert.equal(await upKilledAt(mode, fate, (name) => name === POINTS[point]), POINTS[point]);
        rollout.gate.release();
        await rollout.ground.stack.up();
        rollout.expectDone(listed);
        assert.deepEqual(await rollout.whatIsLeft(), expected);
      } catch (error) {
        throw new Error(`killed: ${words}: ${(error as Error).message}`, { cause: error });
      }
    }
  });
});
