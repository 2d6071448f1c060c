import assert from "node:assert/strict";
import fc from "fast-check";
import { nextSteps } from "../../../../../providers/kubeadm/plan/rollout/next";
import { planRollout, type RolloutPlan } from "../../../../../providers/kubeadm/plan/rollout/plan";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { minorsBetween } from "../../../../../providers/kubeadm/plan/rollout/versions";
import type { DesiredRollout } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { safety } from "./safety";
import { restingScenario, tangledScenario } from "./scenarios";
import { isAsDesired, inOrder, SimulatedRollout, stepKey } from "./simulated-rollout";

const moves = fc.array(fc.nat(1_000), { maxLength: 250 });
/** After how many moves the rollout's process is killed, each time. */
const kills = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 5 });

/** Random moves, with a kill after each so many of them; then on to the end. */
function run(rollout: SimulatedRollout, choices: readonly number[], lives: readonly number[]): void {
  const left = [...lives];
  let until = left.shift();
  for (const choice of choices) {
    rollout.move(choice);
    if (until !== undefined && --until === 0) {
      rollout.kill();
      until = left.shift();
    }
  }
  rollout.settle();
}

const reachesTheEnd = ({ refusals, standstill }: RolloutPlan): boolean =>
  refusals.length === 0 && standstill === undefined;

function leavesNothing(
  nodes: readonly RolloutNode[],
  desired: DesiredRollout,
  start: readonly RolloutNode[],
): void {
  const paused = new Set([
    ...desired.pausedNodes,
    ...desired.pools.flatMap((pool) => (pool.paused ? pool.machines : [])),
  ]);
  for (const node of nodes) {
    if (!paused.has(node.name)) assert.ok(isAsDesired(node, desired), `${node.name} is not as desired`);
    const before = start.find(({ name }) => name === node.name);
    assert.equal(node.unschedulable, before?.unschedulable ?? false, `${node.name}'s cordon`);
  }
}

describe("rollout, simulated with agents, in any order and with kills", function () {
  this.timeout(120_000);

  it("carries out just the steps that the preview listed, in 1,000 scenarios", () => {
    fc.assert(
      fc.property(restingScenario, moves, ({ nodes, desired }, choices) => {
        const plan = planRollout(nodes, desired);
        const rollout = new SimulatedRollout(nodes, desired);
        run(rollout, choices, []);
        const listed = plan.steps.map((step) => ({ ...step, pass: 1, wave: 1 }));
        assert.deepEqual(rollout.taken, listed);
        assert.equal(rollout.last?.stop !== undefined, !reachesTheEnd(plan));
        assert.equal(rollout.last?.done, reachesTheEnd(plan));
      }),
      { numRuns: 1_000 },
    );
  });

  it("is killed and resumed, and still begins what the preview listed, in order and each once", () => {
    fc.assert(
      fc.property(restingScenario, moves, kills, ({ nodes, desired }, choices, lives) => {
        const plan = planRollout(nodes, desired);
        const rollout = new SimulatedRollout(nodes, desired);
        run(rollout, choices, lives);
        assert.deepEqual(inOrder(rollout.taken), inOrder(plan.steps));
      }),
      { numRuns: 1_000 },
    );
  });

  it("previews after a kill what is left of the first preview", () => {
    fc.assert(
      fc.property(restingScenario, moves, ({ nodes, desired }, choices) => {
        const first = inOrder(planRollout(nodes, desired).steps);
        const rollout = new SimulatedRollout(nodes, desired);
        for (const choice of choices) rollout.move(choice);
        const left = planRollout(rollout.list(), { ...desired, clusterVersion: rollout.clusterVersion });
        const rest = inOrder(left.steps);
        // exactly the end of it, but for a node whose old version an earlier run has to close first
        assert.deepEqual(
          rest.filter((key) => first.includes(key)),
          first.filter((key) => rest.includes(key)),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it("never has two control planes, too few for a quorum, or more than maxUnavailable away, and skips no minor", () => {
    fc.assert(
      fc.property(restingScenario, moves, kills, ({ nodes, desired }, choices, lives) => {
        run(new SimulatedRollout(nodes, desired, safety(desired, nodes)), choices, lives);
      }),
      { numRuns: 300 },
    );
  });

  it("ends with every node as desired and cordons as found, and a second run has no step", () => {
    fc.assert(
      fc.property(restingScenario, moves, kills, ({ nodes, desired }, choices, lives) => {
        fc.pre(reachesTheEnd(planRollout(nodes, desired)));
        const rollout = new SimulatedRollout(nodes, desired);
        run(rollout, choices, lives);
        leavesNothing(rollout.list(), desired, nodes);
        const again = { ...desired, clusterVersion: rollout.clusterVersion };
        assert.deepEqual(planRollout(rollout.list(), again).steps, []);
        assert.equal(nextSteps(rollout.list(), again).done, true);
      }),
      { numRuns: 300 },
    );
  });

  it("reaches the same final state from any partial state", () => {
    fc.assert(
      fc.property(tangledScenario, moves, kills, ({ nodes, desired }, choices, lives) => {
        fc.pre(reachesTheEnd(planRollout(nodes, desired)));
        const rollout = new SimulatedRollout(nodes, desired);
        run(rollout, choices, lives);
        leavesNothing(rollout.list(), desired, []);
        for (const { from, to } of rollout.taken) assert.ok(minorsBetween(from, to) <= 1);
        assert.equal(rollout.last?.done, true);
      }),
      { numRuns: 1_000 },
    );
  });

  it("rolls all but the unreachable workers, in any order, and those when they are back", () => {
    fc.assert(
      fc.property(
        restingScenario,
        moves,
        fc.array(fc.nat(20), { maxLength: 3 }),
        (scenario, choices, picks) => {
          const { nodes, desired } = scenario;
          const isGone = (index: number) => picks.some((pick) => pick % nodes.length === index);
          const start = nodes.map((node, index) =>
            isGone(index) && !node.controlPlane
              ? { ...node, ready: false, unreachable: true as const }
              : node,
          );
          const plan = planRollout(start, desired);
          fc.pre(reachesTheEnd(plan) && reachesTheEnd(planRollout(nodes, desired)));
          const rollout = new SimulatedRollout(start, desired);
          run(rollout, choices, []);
          assert.deepEqual(rollout.taken.map(stepKey), plan.steps.map(stepKey));
          assert.equal(rollout.last?.done, true);
          assert.deepEqual(rollout.last?.leftOut, plan.leftOut);
          for (const node of rollout.list()) Object.assign(node, { ready: true, unreachable: undefined });
          rollout.settle();
          leavesNothing(rollout.list(), desired, nodes);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("never exceeds maxUnavailable beside nodes that are not ready, and continues when they are ready", () => {
    fc.assert(
      fc.property(
        restingScenario,
        moves,
        fc.array(fc.nat(20), { maxLength: 3 }),
        (scenario, choices, picks) => {
          const { nodes, desired } = scenario;
          fc.pre(reachesTheEnd(planRollout(nodes, desired)));
          const notReady = picks.map((pick) => pick % nodes.length);
          const start = nodes.map((node, index) =>
            notReady.includes(index) ? { ...node, ready: false } : node,
          );
          const illPlane = start.some((node) => node.controlPlane && !node.ready);
          let isWell = false;
          const rollout = new SimulatedRollout(start, desired, ({ taken }) => {
            // another one away beside it could leave etcd without its quorum
            if (illPlane && !isWell) assert.ok(!taken.some(({ controlPlane }) => controlPlane));
          });
          for (const choice of choices) rollout.move(choice);
          for (const { node } of rollout.taken)
            assert.ok(!notReady.some((index) => nodes[index]?.name === node));
          isWell = true;
          for (const node of rollout.list()) node.ready ||= !node.changesAllowed;
          rollout.settle();
          leavesNothing(rollout.list(), desired, nodes);
          const listed = planRollout(start, desired).steps.map(stepKey).sort();
          assert.deepEqual(rollout.taken.map(stepKey).sort(), listed);
        },
      ),
      { numRuns: 300 },
    );
  });
});
