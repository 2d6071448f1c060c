import assert from "node:assert/strict";
import fc from "fast-check";
import type { MachineRecord } from "../../../../providers/openstack/plan/machine";
import { planMachineRollout } from "../../../../providers/openstack/plan/machine-rollout";

type MachineBatch = ReturnType<typeof planMachineRollout>["now"];
import type { DesiredSlot, Existing } from "../../../../providers/kubeadm/plan/machines/batches";
import { laterLines } from "../../../../lib/steps/steps";

/** A machine "w-1-a": the letter represents the hash. */
function machine(name: string, generation = 1): MachineRecord {
  const [pool = "", index = "", look = ""] = name.split("-");
  return {
    name,
    slot: `${pool}-${index}`,
    pool,
    role: pool === "cp" ? "control-plane" : "worker",
    shape: { image: "debian", flavor: look, network: "10.20.0.0/24" },
    replace: 0,
    incarnation: 1,
    generation,
  };
}

const want = (names: string, replacementsPerRun = 1): DesiredSlot<MachineRecord>[] =>
  names
    .split(" ")
    .filter(Boolean)
    .map((name) => ({
      machine: machine(name),
      replacementsPerRun: name.startsWith("cp") ? 1 : replacementsPerRun,
    }));

/** "w-1-a" has joined; "w-1-b?" is a server only. The younger of a slot comes later. */
const have = (names: string): Existing<MachineRecord>[] =>
  names
    .split(" ")
    .filter(Boolean)
    .map((word, index) => ({ ...machine(word.replace("?", ""), index + 1), joined: !word.endsWith("?") }));

const say = ({ machines, leaving }: MachineBatch) =>
  `${machines.map(({ name }) => name).join(" ")}${leaving.length > 0 ? ` / ${leaving.join(" ")}` : ""}`;

describe("the machines of each run", () => {
  const cases: [what: string, wanted: string, existing: string, runs: string[], surge?: number][] = [
    ["all of a new cluster at once", "cp-1-a cp-2-a cp-3-a w-1-a", "", ["cp-1-a cp-2-a cp-3-a w-1-a"]],
    ["none where all is as desired", "cp-1-a w-1-a", "cp-1-a w-1-a", ["cp-1-a w-1-a"]],
    ["new slots at once", "cp-1-a w-1-a w-2-a w-3-a", "cp-1-a w-1-a", ["cp-1-a w-1-a w-2-a w-3-a"]],
    ["surplus workers at once, the highest first", "cp-1-a", "cp-1-a w-1-a w-2-a", ["cp-1-a / w-2-a w-1-a"]],
    [
      "one worker after the other",
      "cp-1-a w-1-b w-2-b",
      "cp-1-a w-1-a w-2-a",
      ["cp-1-a w-1-b w-2-a / w-1-a", "cp-1-a w-1-b w-2-b / w-2-a"],
    ],
    [
      "as many workers as replacementsPerRun says",
      "cp-1-a w-1-b w-2-b",
      "cp-1-a w-1-a w-2-a",
      ["cp-1-a w-1-b w-2-b / w-1-a w-2-a"],
      2,
    ],
    [
      "control planes before workers, one at a time",
      "cp-1-b cp-2-b cp-3-b w-1-b",
      "cp-1-a cp-2-a cp-3-a w-1-a",
      [
        "cp-1-b cp-2-a cp-3-a w-1-a / cp-1-a",
        "cp-1-b cp-2-b cp-3-a w-1-a / cp-2-a",
        "cp-1-b cp-2-b cp-3-b w-1-a / cp-3-a",
        "cp-1-b cp-2-b cp-3-b w-1-b / w-1-a",
      ],
    ],
    [
      "a single control plane beside its successor first",
      "cp-1-b w-1-a",
      "cp-1-a w-1-a",
      ["cp-1-a cp-1-b w-1-a", "cp-1-b w-1-a / cp-1-a"],
    ],
    [
      "a single control plane stays until its successor has joined",
      "cp-1-b",
      "cp-1-a cp-1-b?",
      ["cp-1-a cp-1-b", "cp-1-b / cp-1-a"],
    ],
    [
      "scaling before replacements",
      "cp-1-a w-1-b w-2-b",
      "cp-1-a w-1-a",
      ["cp-1-a w-1-a w-2-b", "cp-1-a w-1-b w-2-b / w-1-a"],
    ],
    [
      "control planes too many one at a time",
      "cp-1-a",
      "cp-1-a cp-2-a cp-3-a",
      ["cp-1-a cp-2-a / cp-3-a", "cp-1-a / cp-2-a"],
    ],
    [
      "what was cut off before anything else begins",
      "cp-1-a w-1-b w-2-b",
      "cp-1-a w-1-a w-2-a w-2-b",
      ["cp-1-a w-1-a w-2-b / w-2-a", "cp-1-a w-1-b w-2-b / w-1-a"],
    ],
    [
      "nothing of a server that never became a Node",
      "cp-1-a w-1-b",
      "cp-1-a w-1-a?",
      ["cp-1-a w-1-b / w-1-a"],
    ],
    [
      "nothing of a server that left the cluster before its run was cut off",
      "cp-1-b w-1-a",
      "cp-1-a? cp-1-b w-1-a",
      ["cp-1-b w-1-a / cp-1-a"],
    ],
    [
      "the older of two outdated machines first",
      "cp-1-a w-1-c",
      "cp-1-a w-1-a w-1-b",
      ["cp-1-a w-1-b / w-1-a", "cp-1-a w-1-c / w-1-b"],
    ],
    [
      "a pool after the other",
      "cp-1-a v-1-b w-1-b",
      "cp-1-a v-1-a w-1-a",
      ["cp-1-a v-1-b w-1-a / v-1-a", "cp-1-a v-1-b w-1-b / w-1-a"],
    ],
  ];
  for (const [what, wanted, existing, runs, surge] of cases)
    it(what, () => {
      const { now, later } = planMachineRollout(want(wanted, surge), have(existing));
      assert.deepEqual([now, ...later].map(say), runs);
    });

  it("says why a machine is replaced, and in which run", () => {
    const { now, later } = planMachineRollout(want("cp-1-a w-1-b w-2-b"), have("cp-1-a w-1-a w-2-a"));
    assert.deepEqual(now.lines, [
      "w-1: w-1-b is made and joins, then w-1-a is drained and deleted (flavor a → b)",
    ]);
    assert.deepEqual(laterLines(later), [
      "then, in the next run: w-2: w-2-b is made and joins, then w-2-a is drained and deleted (flavor a → b)",
    ]);
  });
});

describe("a server whose port is gone", () => {
  const lines = (wanted: string, existing: string, unattached: string) =>
    planMachineRollout(want(wanted), have(existing), have(unattached)).now.lines;

  it("is replaced in the same run, and is not drained", () => {
    assert.deepEqual(lines("cp-1-a w-1-b w-2-a", "cp-1-a w-2-a", "w-1-a"), [
      "w-1: w-1-b is made, then the server of w-1-a is deleted, since its port is gone",
    ]);
  });

  it("is deleted with the others when its pool shrinks, also a control plane", () => {
    assert.deepEqual(lines("cp-1-a", "cp-1-a", "cp-2-a w-1-a").sort(), [
      "cp-2: the server of cp-2-a is deleted, since its port is gone",
      "w-1: the server of w-1-a is deleted, since its port is gone",
    ]);
  });
});

describe("a machine whose server does not run", () => {
  const plan = (wanted: string, existing: string, stopped: Record<string, string>) =>
    planMachineRollout(want(wanted), have(existing), [], stopped);

  it("leaves a smaller pool without a drain, with the status as the reason", () => {
    const { now, later } = plan("cp-1-a w-2-a", "cp-1-a w-1-a w-2-a w-3-a", { "w-1-a": "SHUTOFF" });
    assert.deepEqual(now.lines.sort(), [
      "w-1: w-1-a leaves first and is deleted without a drain, since its server is SHUTOFF",
      "w-3: w-3-a is drained and deleted, it is no longer wanted",
    ]);
    assert.deepEqual([now.undrained, later], [["w-1-a"], []]);
  });

  it("leaves before another control plane, which leaves in the next run", () => {
    const { now, later } = plan("cp-2-a", "cp-1-a cp-2-a cp-3-a", { "cp-1-a": "PAUSED" });
    assert.deepEqual([now, ...later].map(say), ["cp-2-a cp-3-a / cp-1-a", "cp-2-a / cp-3-a"]);
  });

  it("stays where its slot does", () => {
    assert.deepEqual(plan("cp-1-a w-1-a", "cp-1-a w-1-a", { "w-1-a": "SHUTOFF" }).now.lines, []);
  });

  it("is replaced without a drain, which it could not answer", () => {
    const { now } = plan("cp-1-a w-1-b", "cp-1-a w-1-a", { "w-1-a": "SHUTOFF" });
    assert.deepEqual(now.lines, [
      "w-1: w-1-b is made and joins, then w-1-a is deleted without a drain, since its server is SHUTOFF (flavor a → b)",
    ]);
    assert.deepEqual(now.undrained, ["w-1-a"]);
  });

  it("is drained when it is replaced in ERROR, since it may still run", () => {
    const { now } = plan("cp-1-a w-1-b", "cp-1-a w-1-a", { "w-1-a": "ERROR" });
    assert.deepEqual(now.lines, [
      "w-1: w-1-b is made and joins, then w-1-a is drained and deleted (flavor a → b)",
    ]);
    assert.deepEqual(now.undrained, []);
  });

  it("is replaced before others of its role", () => {
    const { now, later } = plan("cp-1-b cp-2-b cp-3-b v-1-b w-1-b", "cp-1-a cp-2-a cp-3-a v-1-a w-1-a", {
      "cp-2-a": "SHUTOFF",
      "w-1-a": "SHUTOFF",
    });
    assert.deepEqual(
      [now, ...later].map(({ leaving }) => leaving.join(" ")),
      ["cp-2-a", "cp-1-a", "cp-3-a", "w-1-a", "v-1-a"],
    );
  });

  it("is not given up when it is a control plane and no other one runs", () => {
    const stopped = { "cp-1-a": "SHUTOFF", "cp-2-a": "SHUTOFF" };
    const both = plan("cp-1-b cp-2-a", "cp-1-a cp-2-a", stopped);
    assert.deepEqual(both.now.undrained, []);
    const one = plan("cp-1-b cp-2-a", "cp-1-a cp-2-a", { "cp-1-a": "SHUTOFF" });
    assert.deepEqual(one.now.undrained, ["cp-1-a"]);
  });
});

describe("from any partial state of the machines", () => {
  const looks = fc.constantFrom("a", "b", "c");
  const slots = (pool: string, most: number) =>
    fc
      .array(looks, { minLength: pool === "cp" ? 1 : 0, maxLength: most })
      .map((list) => list.map((look, index) => `${pool}-${index + 1}-${look}`));
  const desired = fc.record({
    wanted: fc.tuple(slots("cp", 3), slots("v", 3), slots("w", 3)).map((lists) => lists.flat().join(" ")),
    surge: fc.integer({ min: 1, max: 3 }),
  });
  const halfDone = fc
    .uniqueArray(
      fc.record({
        pool: fc.constantFrom("cp", "v", "w"),
        index: fc.integer({ min: 1, max: 4 }),
        look: looks,
        joined: fc.boolean(),
      }),
      { selector: ({ pool, index, look }) => `${pool}-${index}-${look}`, maxLength: 10 },
    )
    .map((list) =>
      list.map(({ pool, index, look, joined }) => `${pool}-${index}-${look}${joined ? "" : "?"}`),
    );

  /** Asserts what every run must respect. */
  function assertSafe(
    turn: MachineBatch,
    before: Existing<MachineRecord>[],
    wanted: DesiredSlot<MachineRecord>[],
    surge: number,
  ) {
    const gone = before.filter(({ name }) => turn.leaving.includes(name));
    const stays = new Set(turn.machines.map(({ name }) => name));
    for (const { name } of before) assert.notEqual(stays.has(name), turn.leaving.includes(name), name);
    const joinedPlanes = (list: Existing<MachineRecord>[]) =>
      list.filter(({ joined, role }) => joined && role === "control-plane");
    assert.ok(joinedPlanes(gone).length <= 1, "two control planes leave");
    const staying = before.filter(({ name }) => stays.has(name));
    if (joinedPlanes(before).length > 0)
      assert.ok(joinedPlanes(staying).length > 0, "no control plane stays");
    const slotsWanted = new Set(wanted.map(({ machine: { slot } }) => slot));
    for (const pool of ["v", "w"]) {
      const replaced = gone.filter((one) => one.pool === pool && one.joined && slotsWanted.has(one.slot));
      assert.ok(
        replaced.length <= surge,
        `${replaced.length} of ${pool} leave, and replacementsPerRun is ${surge}`,
      );
    }
    const filled = new Set(turn.machines.map(({ slot }) => slot));
    for (const { slot } of gone)
      assert.ok(!slotsWanted.has(slot) || filled.has(slot), `${slot} is left without a machine`);
  }

  it("every run is safe, and the runs end at the desired machines", () => {
    fc.assert(
      fc.property(desired, halfDone, ({ wanted, surge }, existing) => {
        const desired = want(wanted, surge);
        let machines = have(existing.join(" "));
        for (let runs = 0; runs < 40; runs++) {
          const { now, later } = planMachineRollout(desired, machines);
          assertSafe(now, machines, desired, surge);
          const done = now.machines.map((each) => ({ ...each, joined: true }));
          if (later.length === 0) {
            assert.deepEqual(done.map(({ name }) => name).sort(), wanted.split(" ").filter(Boolean).sort());
            return;
          }
          assert.deepEqual(planMachineRollout(desired, done).now.lines, later[0]?.lines);
          machines = done;
        }
        assert.fail("forty runs were not enough");
      }),
      { numRuns: 2000 },
    );
  });

  it("an interrupted run is finished by the next ones, as safely", () => {
    fc.assert(
      fc.property(
        desired,
        desired,
        halfDone,
        fc.array(fc.boolean(), { maxLength: 30 }),
        (first, second, existing, cuts) => {
          let machines = have(existing.join(" "));
          let at = 0;
          // runs of the first desired state that end half-way, then those of the second
          for (const _ of [1, 2, 3]) {
            const desired = want(first.wanted, first.surge);
            const { now } = planMachineRollout(desired, machines);
            assertSafe(now, machines, desired, first.surge);
            const known = new Map(machines.map((each) => [each.name, each]));
            machines = [
              ...now.machines.flatMap((each, index) =>
                known.has(each.name) || cuts[at++]
                  ? [
                      {
                        ...each,
                        generation: index + 1,
                        joined: known.get(each.name)?.joined ?? cuts[at++] ?? false,
                      },
                    ]
                  : [],
              ),
              ...machines.filter(({ name }) => now.leaving.includes(name) && cuts[at++]),
            ];
          }
          const { now, later } = planMachineRollout(want(second.wanted, second.surge), machines);
          assertSafe(now, machines, want(second.wanted, second.surge), second.surge);
          const last = later.at(-1) ?? now;
          assert.deepEqual(
            last.machines.map(({ name }) => name).sort(),
            second.wanted.split(" ").filter(Boolean).sort(),
          );
        },
      ),
      { numRuns: 2000 },
    );
  });
});
