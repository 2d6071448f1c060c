import assert from "node:assert/strict";
import fc from "fast-check";
import type { Machine } from "../../../../../providers/kubeadm/plan/cluster/machine";
import {
  labelChanges,
  type ObservedNode,
  ownershipAfter,
  recordedOwnership,
  taintChanges,
  wantedLabels,
  withOwnership,
} from "../../../../../providers/kubeadm/plan/membership/nodes";
import { formerNodes, planMembership } from "../../../../../providers/kubeadm/plan/membership/plan";
import type { NodeGroupStep } from "../../../../../providers/kubeadm/plan/steps";

const BY_DEFAULT = process.env.FORESAIL_TEST_ALL === "1" ? 10_000 : 1_000;
const SEQUENCES = Number(process.env.FORESAIL_SCENARIOS ?? BY_DEFAULT);
const SEED = Number(process.env.FORESAIL_SEED ?? 1);
const GROUP = "workers";

type Recorded = {
  machines: Machine[];
  owned: ReturnType<typeof recordedOwnership>;
  former: Readonly<Record<string, string>>;
};

/** A worker pool whose runs end anywhere: the state is written at the end of a run, or when one of its steps fails. */
class SimulatedPool {
  readonly nodes = new Map<string, ObservedNode>();
  /** Machines with this stack's mark. */
  readonly marked = new Set<string>();
  private state: Recorded = { machines: [], owned: {}, former: {} };
  private uids = 0;

  plan(desired: Machine[]): NodeGroupStep[] {
    const recorded = this.state.machines.map(({ name }) => name);
    const configured = desired.map(({ name }) => name);
    const observed = withOwnership([...this.nodes.values()], this.state.owned);
    const interrupted = [...this.marked]
      .filter((name) => !configured.includes(name) && !recorded.includes(name))
      .map((name) => ({ name, group: GROUP }));
    const former = formerNodes({ group: GROUP, before: this.state, configured, observed });
    return planMembership({ group: GROUP, desired, recorded, former, interrupted, lost: [], observed }).steps;
  }

  /** One run. @param moves after how many it is killed or fails; undefined for a run that ends */
  up(desired: Machine[], moves?: number, isKilled = false): void {
    // refused by name, with this way on
    if (desired.some((machine) => this.isReset(machine))) return;
    const steps = this.plan(desired);
    const observed = [...this.nodes.values()];
    const removed = new Set<string>();
    const each = steps.flatMap((step) => this.movesOf(step, desired, removed));
    for (const move of each.slice(0, moves)) move();
    if (isKilled && moves !== undefined && moves < each.length) return;
    const configured = desired.map(({ name }) => name);
    const left = this.state.machines.filter(({ name }) => !configured.includes(name) && !removed.has(name));
    this.state = {
      machines: [...desired, ...left],
      owned: ownershipAfter(this.state.owned, desired, observed),
      former: formerNodes({ group: GROUP, before: this.state, configured, observed }),
    };
  }

  /** Whether a removal that did not end has reset the machine, whose Node is still there. */
  isReset = ({ name }: Machine): boolean => this.nodes.has(name) && !this.marked.has(name);

  private movesOf(step: NodeGroupStep, desired: Machine[], removed: Set<string>): (() => void)[] {
    if (!("machine" in step)) return [];
    const { machine: name } = step;
    const machine = desired.find((each) => each.name === name);
    const node = () => this.nodes.get(name) as ObservedNode;
    const set = (): void => {
      const [owned = node()] = withOwnership([node()], this.state.owned);
      const labels = { ...node().labels, ...labelChanges(machine as Machine, owned) };
      node().labels = Object.fromEntries(
        Object.entries(labels).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
      );
      node().taints = taintChanges(machine as Machine, owned) ?? node().taints;
      node().group = GROUP;
    };
    if (step.kind === "join")
      return [
        () => void this.marked.add(name),
        () => {
          if (!this.nodes.has(name)) this.nodes.set(name, this.newNode(name));
        },
        set,
      ];
    if (step.kind === "settings") return [set];
    if (step.kind === "keep")
      return [
        () => {
          node().unschedulable = step.staysCordoned === true;
          delete node().removal;
        },
      ];
    assert.equal(step.kind, "remove", `the model knows no step ${step.kind}`);
    const drain = () => {
      if (!this.nodes.has(name)) return;
      node().removal ??= node().unschedulable ? "was-cordoned" : "cordoned";
      node().unschedulable = true;
    };
    const reset = () => void this.marked.delete(name);
    const forget = () => {
      this.nodes.delete(name);
      removed.add(name);
    };
    // the mark alone says whose such a machine was, so a Node whose machine lost it is known no more
    return "interrupted" in step && step.interrupted
      ? [drain, () => [reset, forget].forEach((each) => each())]
      : [drain, reset, forget];
  }

  private newNode(name: string): ObservedNode {
    return {
      ...{ name, uid: String(++this.uids), controlPlane: false, ready: true, version: "1.36.3" },
      ...{ internalAddress: "192.0.2.1", labels: {}, taints: [], ownedLabels: [], ownedTaints: [] },
      unschedulable: false,
    };
  }
}

const machines = fc
  .uniqueArray(
    fc.record({
      name: fc.constantFrom("w-1", "w-2", "w-3", "w-4"),
      zone: fc.constantFrom(undefined, "a", "b"),
      tainted: fc.boolean(),
    }),
    { selector: ({ name }) => name, maxLength: 4 },
  )
  .map((each) =>
    each.map(
      ({ name, zone, tainted }) =>
        ({
          ...{ name, role: "worker", group: GROUP },
          labels: zone === undefined ? {} : { zone },
          taints: tainted ? [{ key: "only", value: "batch", effect: "NoSchedule" }] : [],
        }) as unknown as Machine,
    ),
  );
const runs = fc.array(fc.record({ machines, moves: fc.nat(14), isKilled: fc.boolean() }), { maxLength: 6 });

describe("a sequence of edits of a pool's machines, with kills and failures in between", function () {
  this.timeout(SEQUENCES * 60);

  it(`ends at the last one with one up, and the next one has nothing to do (${SEQUENCES} sequences)`, () => {
    fc.assert(
      fc.property(runs, machines, (edits, last) => {
        const pool = new SimulatedPool();
        for (const { machines: desired, moves, isKilled } of edits) pool.up(desired, moves, isKilled);
        pool.up(last.filter((machine) => !pool.isReset(machine)));
        pool.up(last);
        const names = last.map(({ name }) => name).sort();
        assert.deepEqual([...pool.nodes.keys()].sort(), names);
        assert.deepEqual([...pool.marked].sort(), names);
        for (const machine of last) {
          const node = pool.nodes.get(machine.name);
          for (const [key, value] of Object.entries(wantedLabels(machine)))
            assert.equal(node?.labels[key], value, `${machine.name} ${key}`);
          assert.equal(node?.unschedulable, false, `${machine.name} is cordoned`);
          for (const { key } of machine.taints) assert.ok(node?.taints.some((taint) => taint.key === key));
        }
        assert.deepEqual(pool.plan(last), []);
      }),
      { numRuns: SEQUENCES, seed: SEED },
    );
  });
});
