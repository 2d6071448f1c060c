import assert from "node:assert/strict";
import fc from "fast-check";
import { DRIFT, NO_DRIFT } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import type { DesiredRollout } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { nextSteps } from "../../../../../providers/kubeadm/plan/rollout/next";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { describeRolloutStep, planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { EditedRollout } from "./edited-rollout";
import { nodeAt, poolsOf } from "./nodes";
import { isAsDesired } from "./simulated-rollout";

/** How many sequences of edits are tried: by default a thousand, with `--all` ten thousand. */
const BY_DEFAULT = process.env.FORESAIL_TEST_ALL === "1" ? 10_000 : 1_000;
const SEQUENCES = Number(process.env.FORESAIL_SCENARIOS ?? BY_DEFAULT);
const SEED = Number(process.env.FORESAIL_SEED ?? 1);

/** What the stack file asks for: each of these may be edited alone or together with others. */
interface Value {
  version: string;
  configuration?: string;
  containerd?: string;
  osPackages?: string;
  repairs: boolean;
  /** A pool or a node; empty: none. */
  paused: string;
  maxUnavailable: number | `${number}%`;
}

const values: fc.Arbitrary<Value> = fc.record({
  version: fc.constantFrom("1.36.2", "1.36.3", "1.36.3", "1.36.4", "1.36.9"),
  configuration: fc.constantFrom(undefined, "m1.k1.p1", "m1.k1.p1", "m1.k2.p1", "m2.k1.p2", "m9.k9.p9"),
  containerd: fc.constantFrom(undefined, "2.1.0", "2.2.0", "9.9.9"),
  osPackages: fc.constantFrom(undefined, "1", "2"),
  repairs: fc.boolean(),
  paused: fc.constantFrom("", "", "", "a-1", "cp-1", "b"),
  maxUnavailable: fc.constantFrom<number | `${number}%`>(1, 1, 2, "50%"),
});
/** What happens between two edits, to one of the nodes. */
const events = fc.record({
  what: fc.constantFrom(
    ...["go on", "go on", "go on", "kill", "off", "on", "block", "unblock", "cordon", "uncordon", "drift"],
  ),
  node: fc.nat(9),
  moves: fc.array(fc.nat(1_000), { maxLength: 25 }),
});

const sequences = fc.record({
  planes: fc.constantFrom(1, 3),
  workers: fc.constantFrom([], ["a-1"], ["a-1", "a-2"], ["a-1", "a-2", "b-1"], ["a-1", "a-2", "a-3", "b-1"]),
  from: fc.constantFrom("1.35.4", "1.36.2", "1.36.3"),
  /** The agents report the version of containerd, whether or not it is configured. */
  reports: fc.boolean(),
  edits: fc.array(fc.tuple(values, fc.array(events, { maxLength: 4 })), { minLength: 1, maxLength: 4 }),
  last: values.map((value) => ({
    ...value,
    version: value.version === "1.36.9" ? "1.36.3" : value.version,
    ...(value.containerd === "9.9.9" ? { containerd: "2.2.0" } : {}),
    ...(value.configuration === "m9.k9.p9" ? { configuration: "m1.k1.p1" } : {}),
    paused: "",
  })),
});

type Event = typeof events extends fc.Arbitrary<infer T> ? T : never;
type Sequence = typeof sequences extends fc.Arbitrary<infer T> ? T : never;

function desiredOf(value: Value, nodes: readonly RolloutNode[]): DesiredRollout {
  const { version, configuration, containerd, osPackages, repairs, paused, maxUnavailable } = value;
  const pools = poolsOf(nodes, { a: { maxUnavailable }, b: { maxUnavailable, paused: paused === "b" } });
  return {
    version,
    software: {
      ...(containerd === undefined ? {} : { containerd }),
      ...(osPackages === undefined ? {} : { "os-packages": osPackages }),
      ...(repairs ? { [DRIFT]: NO_DRIFT } : {}),
    },
    ...(configuration === undefined
      ? {}
      : {
          configuration: {
            "control-plane": configuration,
            worker: configuration.split(".").slice(0, 2).join("."),
          },
        }),
    intermediates: [],
    pools,
    pausedNodes: paused.includes("-") ? [paused] : [],
  };
}

/** One event of a sequence. */
function happen(rollout: EditedRollout, { what, node: pick, moves }: Event): void {
  const nodes = rollout.list();
  const node = nodes[pick % nodes.length] as RolloutNode;
  if (what === "kill") rollout.kill();
  if (what === "off" || what === "on") rollout.power(node.name, what === "on");
  if (what === "block" || what === "unblock") rollout.machine(node.name).blocked = what === "block";
  if (what === "cordon" || what === "uncordon") rollout.cordon(node.name, what === "cordon");
  if (what === "drift" && node.current[DRIFT] !== undefined) node.current[DRIFT] = "0123456789ab";
  for (const choice of moves) rollout.move(choice);
}

/** Whatever was wrong beside the configuration is repaired by a person. */
function clear(rollout: EditedRollout): void {
  for (const node of rollout.list()) {
    const machine = rollout.machine(node.name);
    machine.blocked = false;
    if (machine.off) rollout.power(node.name, true);
    if (machine.cordoned) rollout.cordon(node.name, false);
  }
}

/** A cluster whose stack file was edited so, up to before the last edit. */
function edited({ planes, workers, from, reports, edits, last }: Sequence) {
  const names = [...Array.from({ length: planes }, (_, index) => `cp-${index + 1}`), ...workers];
  const nodes = names.map((name) => nodeAt(name, from));
  for (const node of nodes) {
    if (reports) node.current.containerd = "2.1.0";
    node.current.configuration = node.controlPlane ? "m1.k1.p1" : "m1.k1";
    node.current[DRIFT] = NO_DRIFT;
  }
  const rollout = new EditedRollout(nodes, { ...desiredOf(last, nodes), clusterVersion: from });
  for (const [value, between] of edits) {
    rollout.edit(desiredOf(value, nodes));
    for (const event of between) happen(rollout, event);
  }
  return { rollout, nodes };
}

const linesOf = (steps: readonly Parameters<typeof describeRolloutStep>[0][]) =>
  steps.map(describeRolloutStep).sort();

describe("a sequence of edits, with failures, kills and repairs in between", function () {
  this.timeout(SEQUENCES * 300);

  it(`ends at the last one with one up, as its preview lists, and the next up has nothing to do (${SEQUENCES} sequences)`, () => {
    let tried = 0;
    fc.assert(
      fc.property(sequences, (sequence) => {
        const { rollout, nodes } = edited(sequence);
        clear(rollout);
        const desired = { ...desiredOf(sequence.last, nodes), clusterVersion: rollout.clusterVersion };
        const plan = planRollout(rollout.list(), desired);
        assert.deepEqual([plan.refusals, plan.standstill, plan.leftOut], [[], undefined, []]);
        tried += plan.steps.length;
        rollout.edit(desired);
        rollout.settle();
        assert.equal(rollout.failed, false, "a node failed");
        assert.equal(rollout.last?.done, true, JSON.stringify(rollout.last));
        assert.deepEqual(linesOf(rollout.taken), linesOf(plan.steps));
        for (const node of rollout.list()) {
          assert.ok(isAsDesired(node, desired), `${node.name} is not as desired`);
          assert.equal(node.unschedulable, false, `${node.name} is cordoned`);
          for (const [name, asked] of Object.entries(node.desired))
            assert.equal(asked, node.current[name], `${node.name} is still asked for ${name} ${asked}`);
        }
        const again = { ...desired, clusterVersion: rollout.clusterVersion };
        assert.deepEqual(planRollout(rollout.list(), again).steps, []);
        assert.equal(nextSteps(rollout.list(), again).done, true);
      }),
      { numRuns: SEQUENCES, seed: SEED },
    );
    assert.ok(tried > SEQUENCES, `only ${tried} steps in ${SEQUENCES} sequences`);
  });

  it("does what its preview lists, and no more, beside nodes that are down or that a person cordoned", () => {
    let stopped = 0;
    const marked = fc.array(fc.record({ node: fc.nat(9), isDown: fc.boolean() }), {
      minLength: 1,
      maxLength: 2,
    });
    fc.assert(
      fc.property(sequences, marked, (sequence, picks) => {
        const { rollout, nodes } = edited(sequence);
        clear(rollout);
        for (const { node: pick, isDown } of picks) {
          const node = rollout.list()[pick % nodes.length] as RolloutNode;
          // a control plane that an earlier run took out of service is waited for
          if (node.controlPlane && node.changesAllowed) continue;
          if (isDown) rollout.power(node.name, false);
          else rollout.cordon(node.name, true);
        }
        const desired = { ...desiredOf(sequence.last, nodes), clusterVersion: rollout.clusterVersion };
        const plan = planRollout(rollout.list(), desired);
        fc.pre(plan.refusals.length === 0);
        if (plan.standstill !== undefined) stopped++;
        rollout.edit(desired);
        rollout.settle();
        assert.deepEqual(linesOf(rollout.taken), linesOf(plan.steps));
        assert.deepEqual(rollout.last?.done, plan.standstill === undefined);
        assert.deepEqual(rollout.last?.leftOut, plan.leftOut);
      }),
      { numRuns: SEQUENCES / 2, seed: SEED },
    );
    assert.ok(stopped > SEQUENCES / 50, `only ${stopped} of them stopped`);
  });
});
