import assert from "node:assert/strict";
import fc from "fast-check";
import { wantedSlots, type MachineGroup, type Slot } from "../../../../providers/tumblebug/plan/groups";
import { planBatch, type SlotBatch } from "../../../../providers/tumblebug/plan/machine-batch";
import type { RecordedGroup } from "../../../../providers/kubeadm/plan/machines/slots";

const group = (name: string, replicas: number, over: Partial<MachineGroup> = {}): MachineGroup => ({
  ...{ name, role: name === "cp" ? "control-plane" : "worker", connection: "aws", replicas },
  ...{ spec: "t3.medium", image: "ami-1", labels: {}, taints: [] },
  ...over,
});
const slotsOf = (planes: number, replace: Record<string, number> = {}, over: Partial<MachineGroup> = {}) =>
  wantedSlots([group("cp", planes, over), group("w", 1, over)], replace);
const machines = (slots: readonly Slot[]) => slots.map(({ machine }) => machine);
const planesOf = (slots: readonly Slot[]) => machines(slots.filter(({ role }) => role === "control-plane"));

/** The state after a completed run. */
const after = (slots: readonly Slot[]) => ({
  slots: [...slots],
  controlPlanes: settled(planesOf(slots)),
});
const settled = (names: string[]): RecordedGroup => ({ members: names, kept: names, joined: names });

/** The runs until nothing is left to do. */
function runs(wanted: Slot[], before: readonly Slot[]): SlotBatch[] {
  const turns: SlotBatch[] = [];
  for (let recorded = after(before); turns.length < 20; recorded = after(turns.at(-1)!.slots)) {
    turns.push(planBatch(wanted, recorded, []));
    if (turns.at(-1)!.later.length === 0) return turns;
  }
  return assert.fail("the runs don't end");
}

describe("the control planes of one run", () => {
  it("are all created in the first run", () => {
    const turn = planBatch(slotsOf(3), { slots: [], controlPlanes: settled([]) }, []);
    assert.deepEqual(machines(turn.slots), ["cp-1", "cp-2", "cp-3", "w-1"]);
    assert.deepEqual([turn.leaving, turn.steps, turn.later, turn.remarks], [[], [], [], []]);
  });

  it("go from three to one in two runs, the highest index first", () => {
    const [first, second, ...more] = runs(slotsOf(1), slotsOf(3));
    assert.deepEqual(more, []);
    assert.deepEqual(machines(first!.slots), ["cp-1", "cp-2", "w-1"]);
    assert.deepEqual(first!.leaving, ["cp-3"]);
    const words = "leaves etcd and the cluster, and its VM is deleted; one control plane goes in a run";
    assert.deepEqual(first!.steps, [`cp-3: ${words}`]);
    assert.deepEqual(first!.later, [`then, in the next run: cp-2: ${words}`]);
    assert.deepEqual(machines(second!.slots), ["cp-1", "w-1"]);
    assert.deepEqual(second!.steps, [`cp-2: ${words}`]);
  });

  it("keep the only one until its successor has joined", () => {
    const [first, second, ...more] = runs(slotsOf(1, { "cp-1": 1 }), slotsOf(1));
    assert.deepEqual(more, []);
    assert.deepEqual(planesOf(first!.slots), ["cp-1-r1", "cp-1"]);
    assert.deepEqual([first!.leaving, first!.leavingLater], [[], ["cp-1"]]);
    assert.deepEqual([second!.leaving, second!.leavingLater], [["cp-1"], []]);
  });

  it("wait while another one is partly removed", () => {
    const recorded = {
      slots: slotsOf(5).filter(({ machine }) => machine !== "cp-5"),
      controlPlanes: {
        members: ["cp-1", "cp-2", "cp-3", "cp-4", "cp-5"],
        kept: ["cp-1", "cp-2", "cp-3", "cp-4"],
        joined: ["cp-1", "cp-2", "cp-3", "cp-4"],
      },
    };
    const turn = planBatch(slotsOf(3), recorded, []);
    assert.deepEqual(turn.leaving, ["cp-5"]);
    assert.deepEqual(planesOf(turn.slots), ["cp-1", "cp-2", "cp-3", "cp-4"]);
  });

  it("remove dead ones at once, and healthy ones afterwards", () => {
    const turn = planBatch(slotsOf(3), after(slotsOf(5)), ["cp-4"]);
    assert.deepEqual(turn.leaving, ["cp-4"]);
    assert.deepEqual(planesOf(turn.slots), ["cp-1", "cp-2", "cp-3", "cp-5"]);
  });

  it("remove none until another one is known to have joined", () => {
    const recorded = {
      slots: slotsOf(3),
      controlPlanes: { ...settled(["cp-1", "cp-2", "cp-3"]), joined: [] },
    };
    assert.deepEqual(planBatch(slotsOf(1), recorded, []).leaving, []);
  });

  it("end at the desired ones, removing at most one per run while another joined one stays", () => {
    const number = fc.constantFrom(1, 3, 5, 7);
    const replaced = fc.dictionary(fc.constantFrom("cp-1", "cp-2", "cp-3"), fc.integer({ min: 1, max: 3 }));
    fc.assert(
      fc.property(number, number, replaced, (now, then, replace) => {
        const wanted = slotsOf(then, replace);
        let recorded = after(slotsOf(now));
        for (const turn of runs(wanted, slotsOf(now))) {
          assert.ok(turn.leaving.length <= 1);
          assert.ok(machines(wanted).every((machine) => machines(turn.slots).includes(machine)));
          const { joined } = recorded.controlPlanes;
          if (turn.leaving.length > 0) assert.ok(joined.some((machine) => !turn.leaving.includes(machine)));
          recorded = after(turn.slots);
        }
        assert.deepEqual(recorded.slots, wanted);
      }),
    );
  });
});

describe("a machine that has a VM", () => {
  it("stays as it is, with a remark when the configuration differs", () => {
    const before = slotsOf(1);
    const wanted = slotsOf(1, {}, { spec: "t3.large", connection: "gcp" });
    const { slots, remarks } = planBatch(wanted, after(before), []);
    assert.deepEqual(slots, before);
    assert.deepEqual(remarks, [
      "cp-1 keeps its connection aws, not gcp, spec t3.medium, not t3.large: a new machine takes that; to have one, raise its number in `tumblebug.replace`",
      "w-1 keeps its connection aws, not gcp, spec t3.medium, not t3.large: a new machine takes that; to have one, raise its number in `tumblebug.replace`",
    ]);
  });

  it("keeps its root disk, too", () => {
    const { slots, remarks } = planBatch(
      slotsOf(1, {}, { rootVolume: { sizeGiB: 50 } }),
      after(slotsOf(1)),
      [],
    );
    assert.equal(slots[0]!.rootDisk, undefined);
    assert.match(remarks[0]!, /root disk the image's, not 50 GiB/);
  });

  it("has no remark when it is as desired, and its successor gets the new spec", () => {
    const { slots, remarks } = planBatch(
      slotsOf(1, { "w-1": 1 }, { spec: "t3.large" }),
      after([...slotsOf(1)]),
      [],
    );
    assert.deepEqual(remarks.length, 1);
    assert.equal(slots.find(({ machine }) => machine === "w-1-r1")?.spec, "t3.large");
  });
});

describe("a group that becomes smaller", () => {
  const workers = (replicas: number) => [group("cp", 1), group("w", replicas)];
  const five = wantedSlots(workers(5));
  const turnOf = (replicas: number, stopped: Record<string, string>, recorded: readonly Slot[] = five) => {
    const isStopped = (name: string) => Object.hasOwn(stopped, name);
    return planBatch(wantedSlots(workers(replicas), {}, recorded, isStopped), after(recorded), [], stopped);
  };

  it("loses the machines whose VMs do not run, and says so", () => {
    const turn = turnOf(3, { "w-1": "Suspended", "w-4": "Failed" });
    assert.deepEqual(machines(turn.slots), ["cp-1", "w-2", "w-3", "w-5"]);
    assert.deepEqual(turn.undrained, ["w-1", "w-4"]);
    assert.deepEqual(turn.steps, [
      "w-1: leaves first and without a drain, since its VM is Suspended",
      "w-4: leaves first and without a drain, since its VM is Failed",
    ]);
    // the next run keeps the same machines, and a larger group fills the gaps
    assert.deepEqual(machines(turnOf(3, {}, turn.slots).slots), machines(turn.slots));
    assert.deepEqual(machines(turnOf(5, {}, turn.slots).slots), machines(five));
  });

  it("loses the highest indexes when all run, and keeps a stopped machine that it still needs", () => {
    assert.deepEqual(machines(turnOf(2, {}).slots), ["cp-1", "w-1", "w-2"]);
    const turn = turnOf(5, { "w-1": "Suspended" });
    assert.deepEqual([machines(turn.slots), turn.undrained, turn.steps], [machines(five), [], []]);
  });

  it("loses a stopped control plane before others", () => {
    const three = slotsOf(3);
    const stopped = { "cp-1": "Suspended" };
    const wanted = wantedSlots([group("cp", 1), group("w", 1)], {}, three, (name) => name in stopped);
    const turn = planBatch(wanted, after(three), [], stopped);
    assert.deepEqual([turn.leaving, turn.undrained, turn.leavingLater], [["cp-1"], ["cp-1"], ["cp-3"]]);
    assert.deepEqual(machines(turn.slots), ["cp-2", "cp-3", "w-1"]);
    assert.deepEqual(turn.steps, ["cp-1: leaves first and without a drain, since its VM is Suspended"]);
  });

  it("gives no control plane up when none that stays runs", () => {
    const three = slotsOf(3);
    const stopped = { "cp-1": "Suspended", "cp-2": "Suspended", "cp-3": "Suspended" };
    const wanted = wantedSlots([group("cp", 1), group("w", 1)], {}, three, (name) => name in stopped);
    const turn = planBatch(wanted, after(three), [], stopped);
    assert.deepEqual([turn.leaving, turn.undrained], [["cp-3"], []]);
    assert.deepEqual(turn.steps, [
      "cp-3: leaves etcd and the cluster, and its VM is deleted; one control plane goes in a run",
    ]);
  });
});
