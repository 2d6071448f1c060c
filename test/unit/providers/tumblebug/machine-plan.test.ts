import assert from "node:assert/strict";
import fc from "fast-check";
import { wantedSlots, type MachineGroup } from "../../../../providers/tumblebug/plan/groups";
import {
  isRunning,
  isSettled,
  lostLines,
  machineLines,
  stoppedLines,
  stuckSeconds,
  strangerLines,
  planMachines,
  type LiveVm,
  type DesiredMachine,
} from "../../../../providers/tumblebug/plan/machine-plan";

const group = (name: string, replicas: number): MachineGroup => ({
  ...{ name, role: name === "cp" ? "control-plane" : "worker", connection: "aws", replicas },
  ...{ spec: "t3.medium", image: "debian", labels: {}, taints: [] },
});
const slots = wantedSlots([group("w", 2), group("cp", 3)]);
const vm = (name: string, over: Partial<LiveVm> = {}): LiveVm => ({
  ...{ name, group: name.replace(/-\d+$/, ""), status: "Running", targetAction: "None", systemMessage: "" },
  ...{ publicAddress: "203.0.113.1", privateAddress: "10.0.0.1", spec: "s", cloudId: `i-${name}` },
  ...over,
});
const plan = (over: Partial<DesiredMachine>) =>
  planMachines({ slots, recorded: {}, leaving: {}, live: undefined, ...over });
const ALL = ["cp-1", "cp-2", "cp-3", "w-1-1", "w-2-1"].map((name) => vm(name));
/** Workers that the last run was to have. */
const planned = (...machines: string[]) => machines.map((machine) => ({ machine, vmGroup: machine }));
const RECORDED = { "cp-1": "cp-1", "cp-2": "cp-2", "cp-3": "cp-3", "w-1": "w-1-1", "w-2": "w-2-1" };

describe("which VM is which machine", () => {
  it("puts control planes in one VM group, and each worker in its own", () => {
    assert.deepEqual(
      slots.map(({ machine, vmGroup }) => `${machine} ${vmGroup}`),
      ["cp-1 cp", "cp-2 cp", "cp-3 cp", "w-1 w-1", "w-2 w-2"],
    );
    const [, , replaced] = wantedSlots([group("cp", 3)], { "cp-3": 2 });
    assert.deepEqual([replaced?.machine, replaced?.vmGroup], ["cp-3-r2", "cp"]);
  });

  const table: [what: string, desired: Partial<DesiredMachine>, lines: string[]][] = [
    [
      "nothing is there: all are made",
      {},
      ["cp-1: create", "cp-2: create", "cp-3: create", "w-1: create", "w-2: create"],
    ],
    ["all are there and recorded", { live: ALL, recorded: RECORDED }, []],
    ["all are there and no run could record them", { live: ALL }, []],
    ["they come in another order", { live: [...ALL].reverse(), recorded: RECORDED }, []],
    [
      "one never came up",
      {
        live: ALL.map((one) =>
          one.name === "w-2-1" ? vm("w-2-1", { status: "Failed", systemMessage: "no room" }) : one,
        ),
      },
      ["w-2: delete its VM w-2-1, which never came up (Failed: no room)", "w-2: create"],
    ],
    [
      "a control plane never came up, and the others were not recorded",
      { live: ALL.map((one) => (one.name === "cp-1" ? vm("cp-1", { status: "Failed" }) : one)) },
      ["cp-1: delete its VM cp-1, which never came up (Failed)", "cp-1: create"],
    ],
    [
      "the server numbered another VM on",
      { live: [...ALL.slice(0, 4), vm("w-2-2")], recorded: { ...RECORDED, "w-2": "w-2-2" } },
      [],
    ],
    [
      "one is on its way",
      { live: ALL.map((one) => (one.name === "w-1-1" ? vm("w-1-1", { status: "Creating" }) : one)) },
      [
        "w-1: wait for its VM w-1-1, which is Creating; after 600 s without a change, delete it and create it again",
      ],
    ],
    [
      "one has been on its way for long",
      {
        live: ALL.map((one) => (one.name === "w-1-1" ? vm("w-1-1", { status: "Creating" }) : one)),
        hasWaited: true,
      },
      ["w-1: delete its VM w-1-1, which never came up (Creating)", "w-1: create"],
    ],
    [
      "one that no run recorded is Undefined: it may run, and is kept",
      { live: ALL.map((one) => (one.name === "w-1-1" ? vm("w-1-1", { status: "Undefined" }) : one)) },
      [],
    ],
    [
      "one that no run recorded is Undefined, and was never in the cloud",
      {
        live: ALL.map((one) =>
          one.name === "w-1-1" ? vm("w-1-1", { status: "Undefined", cloudId: "" }) : one,
        ),
      },
      ["w-1: delete its VM w-1-1, which never came up (Undefined)", "w-1: create"],
    ],
    [
      "a run that was killed left one, which is not wanted any more",
      { live: [...ALL, vm("w-3-1")], recorded: RECORDED, planned: planned("w-3") },
      ["delete the VM w-3-1, which no machine has and no run recorded (Running)"],
    ],
    [
      "a group was removed whose VM never came up",
      {
        live: [...ALL, vm("gpu-1-1", { status: "Failed", systemMessage: "no room", cloudId: "" })],
        recorded: RECORDED,
      },
      ["delete the VM gpu-1-1, which no machine has and no run recorded (Failed: no room)"],
    ],
    [
      "a machine that leaves still has its VM",
      { live: [...ALL, vm("w-3-1")], recorded: RECORDED, leaving: { "w-3": "w-3-1" } },
      [],
    ],
    [
      "one that was recorded is suspended",
      {
        live: ALL.map((one) => (one.name === "w-1-1" ? vm("w-1-1", { status: "Suspended" }) : one)),
        recorded: RECORDED,
      },
      [],
    ],
  ];
  for (const [what, desired, lines] of table)
    it(what, () => {
      const said = machineLines(plan(desired), 2400).map((line) => line.replace(/ its VM in aws.*/, ""));
      assert.deepEqual(said, lines);
      assert.deepEqual(lostLines(plan(desired)), []);
    });

  it("gives up a VM that starts after ten minutes without a change, or after the whole deadline", () => {
    for (const [deadline, seconds] of [
      [2400, 600],
      [600, 600],
      [300, 300],
      [5, 5],
    ] as const)
      assert.equal(stuckSeconds(deadline), seconds);
  });

  it("names a VM without a record that is Undefined, and does not take it for one that runs", () => {
    const live = ALL.map((one) => vm(one.name, { status: one.name === "w-1-1" ? "Undefined" : "Running" }));
    const { stopped } = plan({ live, hasWaited: true });
    assert.deepEqual(stoppedLines({ stopped }, "/f"), ["w-1: its VM w-1-1 is Undefined"]);
  });

  it("names each VM that does not run, and what starts it", () => {
    const live = ALL.map((one) => vm(one.name, { status: one.name === "w-1-1" ? "Suspended" : "Running" }));
    const { kept, stopped } = plan({ live, recorded: RECORDED });
    assert.equal(kept["w-1"], "w-1-1");
    assert.deepEqual(stoppedLines({ stopped }, "/ns/n/control/mcis/k/vm"), [
      "w-1: its VM w-1-1 is Suspended; start it: `GET /ns/n/control/mcis/k/vm/w-1-1?action=resume` on the server",
    ]);
  });

  describe("that no machine has", () => {
    const controlPlane = (machine: string) => ({ machine, vmGroup: "cp" });
    const one = wantedSlots([group("w", 2), group("cp", 1)]);
    const few = { "cp-1": "cp-1", "w-1": "w-1-1", "w-2": "w-2-1" };
    const rows: [what: string, desired: Partial<DesiredMachine>, deleted: string[], stay: string[]][] = [
      ["runs, and the state is of an old backup", { live: [...ALL, vm("w-3-1")] }, [], ["w-3-1"]],
      [
        "runs, and the last run was to have its machine",
        { live: [...ALL, vm("w-3-1")], planned: planned("w-3") },
        ["w-3-1"],
        [],
      ],
      [
        "was added by others beside one of a killed run",
        { live: [...ALL, vm("w-3-1"), vm("bastion-1")], planned: planned("w-3") },
        ["w-3-1"],
        ["bastion-1"],
      ],
      [
        "was added by others to the group of one of a killed run: none of both goes",
        { live: [...ALL, vm("w-3-1"), vm("w-3-2")], planned: planned("w-3") },
        [],
        ["w-3-1", "w-3-2"],
      ],
      [
        "is a control plane of a scale-up that was killed",
        {
          ...{ slots: one, recorded: few, live: ALL },
          planned: ["cp-1", "cp-2", "cp-3"].map(controlPlane),
        },
        ["cp-2", "cp-3"],
        [],
      ],
      [
        "is a control plane that joined after the backup",
        { slots: one, recorded: few, live: ALL, planned: ["cp-1"].map(controlPlane) },
        [],
        ["cp-2", "cp-3"],
      ],
      [
        "runs in the group of a machine that has its own VM",
        { live: [...ALL, vm("w-2-2")], planned: planned("w-1", "w-2") },
        [],
        ["w-2-2"],
      ],
      [
        "runs in the group of a machine that leaves with its own VM",
        { live: [...ALL, vm("w-3-1"), vm("w-3-2")], leaving: { "w-3": "w-3-1" }, planned: planned("w-3") },
        [],
        ["w-3-2"],
      ],
      [
        "was to be deleted by the last run",
        { live: [...ALL, vm("w-3-1")], listed: ["w-3-1"] },
        ["w-3-1"],
        [],
      ],
      [
        "failed before it was in the cloud",
        { live: [...ALL, vm("w-3-1", { status: "Failed", cloudId: "" })] },
        ["w-3-1"],
        [],
      ],
      ["failed and may run on", { live: [...ALL, vm("w-3-1", { status: "Failed" })] }, [], ["w-3-1"]],
      ["is terminated", { live: [...ALL, vm("w-3-1", { status: "Terminated" })] }, ["w-3-1"], []],
      ["is ending", { live: [...ALL, vm("w-3-1", { status: "Terminating" })] }, ["w-3-1"], []],
      ...["Suspended", "Undefined", "Rebooting", "Creating", "Migrating"].map(
        (status): [string, Partial<DesiredMachine>, string[], string[]] => [
          `is ${status}`,
          { live: [...ALL, vm("w-3-1", { status })] },
          [],
          ["w-3-1"],
        ],
      ),
    ];
    for (const [what, desired, deleted, stay] of rows)
      it(`${stay.length > 0 ? "stays" : "is deleted"} when it ${what}`, () => {
        const { unused, strangers } = plan({ recorded: RECORDED, ...desired });
        assert.deepEqual(
          [unused, strangers].map((some) => some.map((each) => each.vm)),
          [deleted, stay],
        );
      });

    it("is named with what to do if it stays", () =>
      assert.deepEqual(
        strangerLines(plan({ recorded: RECORDED, live: [...ALL, vm("w-3-1")] }), "/ns/n/infra/k/node"),
        [
          "no machine has the VM w-3-1 (Running), and no run that the state knows made it: it stays. If the state is " +
            "older than the cluster, w-3-1 may be one of its nodes: configure a machine for the VM group w-3 again, " +
            "and remove it after `up`. If it is not needed, delete it: `DELETE /ns/n/infra/k/node/w-3-1` on the server",
        ],
      ));
  });

  it("reports that a machine whose VM had come up is lost, and creates no replacement", () => {
    for (const live of [
      ALL.slice(0, 4),
      [...ALL.slice(0, 4), vm("w-2-1", { status: "Terminated" })],
      undefined,
    ]) {
      const { lost, made } = plan({ recorded: RECORDED, live });
      assert.ok(lost.some(({ machine }) => machine === "w-2"));
      assert.ok(!made.some(({ machine }) => machine === "w-2"));
    }
  });

  it("keeps the VM of a machine that will be removed, and gives it to no other machine", () => {
    const fewer = slots.filter(({ machine }) => machine !== "w-2");
    const { leaving, made } = plan({ slots: fewer, recorded: RECORDED, live: ALL });
    assert.deepEqual([leaving, made], [{ "w-2": "w-2-1" }, []]);
    const replaced = wantedSlots([group("cp", 3)], { "cp-2": 1 });
    const next = plan({ slots: replaced, recorded: RECORDED, live: ALL });
    assert.deepEqual(next.leaving, { "cp-2": "cp-2", "w-1": "w-1-1", "w-2": "w-2-1" });
    assert.deepEqual(
      next.made.map(({ machine }) => machine),
      ["cp-2-r1"],
    );
  });

  it("gives a machine its VM back when it is desired again before its removal, and a new one after", () => {
    const leaving = { "w-2": "w-2-1" };
    const { "w-2": _, ...recorded } = RECORDED;
    assert.equal(plan({ recorded, leaving, live: ALL }).kept["w-2"], "w-2-1");
    const later = plan({ recorded, leaving, live: ALL.slice(0, 4) });
    assert.deepEqual([later.lost, later.made.map(({ machine }) => machine)], [[], ["w-2"]]);
  });

  it("gives no VM to two machines, and omits no machine, whatever the server has", () => {
    const status = fc.constantFrom("Running", "Creating", "Failed", "Terminated", "Suspended");
    const live = fc.uniqueArray(
      fc.tuple(fc.constantFrom("cp", "w-1", "w-2", "w-3"), fc.integer({ min: 1, max: 12 }), status),
      { selector: ([one, number]) => `${one}-${number}`, maxLength: 12 },
    );
    const chosen = fc.subarray(Object.entries(RECORDED));
    fc.assert(
      fc.property(live, chosen, (vms, recorded) => {
        const made = plan({
          live: vms.map(([name, number, state]) => vm(`${name}-${number}`, { group: name, status: state })),
          recorded: Object.fromEntries(recorded),
        });
        const kept = Object.values(made.kept);
        assert.equal(new Set(kept).size, kept.length);
        const places = [...Object.keys(made.kept), ...made.made.map(({ machine }) => machine)];
        const lost = made.lost.map(({ machine }) => machine);
        const named = [...kept, ...Object.values(made.leaving), ...made.lost.map((one) => one.vm)];
        const deleted = [...made.failed, ...made.unused].map((one) => one.vm);
        const left = made.strangers.map((one) => one.vm);
        assert.ok(![...deleted, ...left].some((one) => named.includes(one)));
        assert.ok(!deleted.some((one) => left.includes(one)));
        for (const [one, number] of vms)
          assert.ok([...named, ...deleted, ...left].includes(`${one}-${number}`));
        assert.deepEqual([...places, ...lost].sort(), slots.map(({ machine }) => machine).sort());
      }),
    );
  });

  it("waits for VMs that are neither running nor terminated", () => {
    const cases: [Partial<LiveVm>, boolean, boolean][] = [
      [{}, true, true],
      [{ targetAction: "Create" }, false, false],
      [{ publicAddress: undefined }, false, false],
      [{ status: "Creating" }, false, false],
      [{ status: "Suspended" }, true, false],
      [{ status: "Failed" }, true, false],
      [{ status: "Terminating" }, false, false],
      [{ status: "Terminated" }, true, false],
    ];
    for (const [over, settled, running] of cases) {
      const one = { ...vm("a-1"), ...over };
      assert.deepEqual([isSettled(one), isRunning(one)], [settled, running], JSON.stringify(over));
    }
  });
});
