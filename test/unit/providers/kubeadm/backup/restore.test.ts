import assert from "node:assert/strict";
import type { SnapshotFacts } from "../../../../../providers/kubeadm/plan/backup/backup";
import {
  parseRemains,
  planRestore,
  type Remains,
  type RestorePlan,
} from "../../../../../providers/kubeadm/plan/backup/restore";
import { exampleMachine } from "../machine/examples";

const NOW = Date.parse("2026-11-28T03:15:33Z");
const facts: SnapshotFacts = {
  ...{ cluster: "demo", stack: "", machine: "cp-1", taken: "2026-11-28T00:15:33Z", version: "1.36.3" },
  ...{ revision: 1979, hash: 0x4cde, keys: 340, bytes: 1_900_000 },
};
const SNAPSHOT = "demo 2026-11-28T00:15:33Z 19678";
const plane = (name: string) => ({ ...exampleMachine(name), role: "control-plane" as const });
const machines = [
  plane("cp-1"),
  plane("cp-2"),
  plane("cp-3"),
  { ...exampleMachine("w-1"), role: "worker" as const },
];
const SOUND = { prepared: true, programs: true, fits: 2 ** 30 };
const DEAD: Remains = { ...SOUND, api: false };
const allDead = new Map(["cp-1", "cp-2", "cp-3"].map((name): [string, Remains] => [name, DEAD]));
const NOTHING_GIVEN = { gone: [], discardLiving: false };

const plan = (remains = allDead, given: { gone?: string[]; discardLiving?: boolean } = {}, own = facts) =>
  planRestore(own, { cluster: "demo", stack: "" }, machines, remains, { ...NOTHING_GIVEN, ...given }, NOW);

const UNFIT = { programs: false, fits: 0 };

describe("the plan of a restore", () => {
  it("has every step, and what is lost", () => {
    const { refusals, lines, fenced, gone, snapshot } = plan() as RestorePlan;
    assert.deepEqual(refusals, []);
    assert.deepEqual(lines, [
      "demo goes back to 2026-11-28T00:15:33Z, 3 hours ago: etcd at revision 1979 (hash 4cde, 340 keys, 2 MiB), Kubernetes 1.36.3",
      "everything that was changed in the cluster since then is lost; pods that were created since then end",
      "cp-2: stop its API server and etcd for good; the next `up` joins it again",
      "cp-3: stop its API server and etcd for good; the next `up` joins it again",
      "cp-1: stop what is left, restore etcd with cp-1 as its only member, put /etc/kubernetes back, start the kubelet, wait until the API server is ready",
      "cluster: delete the Nodes cp-2, cp-3",
      "workers: nothing; their kubelets and pods go on, and connect again; one that joined after the snapshot has no Node until its kubelet is restarted",
    ]);
    assert.deepEqual(
      [fenced.map(({ name }) => name), gone, snapshot],
      [["cp-2", "cp-3"], ["cp-2", "cp-3"], SNAPSHOT],
    );
  });

  it("leaves out a machine that is gone, but not its Node", () => {
    const without = new Map([...allDead, ["cp-3", { unreachable: "no route" }]]);
    const found = plan(without, { gone: ["cp-3"] }) as RestorePlan;
    assert.deepEqual(found.refusals, []);
    assert.deepEqual([found.fenced.map(({ name }) => name), found.gone], [["cp-2"], ["cp-2", "cp-3"]]);
    assert.ok(found.lines.includes("cp-3: is gone, and must not come back with what it has"));
  });

  it("leaves out a machine that is gone and was reinstalled", () => {
    const again = new Map([...allDead, ["cp-3", { ...DEAD, ...UNFIT, prepared: false }]]);
    assert.deepEqual(plan(again, { gone: ["cp-3"] }).refusals, []);
  });

  for (const [name, left, given, again, line] of [
    ["says what remains of a restore that did not end", { api: false }, {}, false, /is restored already/],
    ["continues one while its API answers", { api: true }, {}, false, /is restored already/],
    [
      "continues one with --discard-living",
      { api: false },
      { discardLiving: true },
      false,
      /is restored already/,
    ],
    [
      "replaces one that serves with --discard-living",
      { api: true },
      { discardLiving: true },
      true,
      /stop what/,
    ],
  ] as const)
    it(name, () => {
      const remains = { ...DEAD, ...left, restored: SNAPSHOT };
      const found = plan(new Map([...allDead, ["cp-1", remains]]), given) as RestorePlan;
      assert.equal(found.again, again);
      assert.match(found.lines.find((each) => each.startsWith("cp-1: ")) ?? "", line);
    });

  const living: Remains = { ...SOUND, api: true };
  for (const [name, remains, given, refusal] of [
    ["a cluster that answers", { "cp-1": living }, {}, /API server of cp-1 is ready.*--discard-living/],
    ["another control plane that answers", { "cp-2": living }, {}, /API server of cp-2 is ready/],
    [
      "one that can't be reached",
      { "cp-2": { unreachable: "no route" } },
      {},
      /cp-2 can't be reached: no route;.*--gone cp-2/,
    ],
    [
      "its own machine when that can't be reached",
      { "cp-1": { unreachable: "no route" } },
      {},
      /^cp-1 can't be reached: no route$/,
    ],
    ["a machine that was not asked", { "cp-2": undefined }, {}, /cp-2: was not asked/],
    [
      "another snapshot that is being restored",
      { "cp-1": { ...living, restored: "demo x" } },
      {},
      /cp-1 is ready/,
    ],
    [
      "a machine without space",
      { "cp-1": { ...DEAD, fits: 2 ** 20 } },
      {},
      /space for a snapshot of 1 MiB.* 2 MiB/,
    ],
    [
      "one without etcd's programs",
      { "cp-1": { ...DEAD, programs: false } },
      {},
      /no program on cp-1 can read a snapshot/,
    ],
    [
      "one that was reinstalled",
      { "cp-1": { ...DEAD, ...UNFIT, prepared: false } },
      {},
      /^cp-1: nothing is prepared/,
    ],
    [
      "one that is said to be gone and answers",
      {},
      { gone: ["cp-2"] },
      /^cp-2 answers, so it is not gone; leave out --gone cp-2$/,
    ],
    ["its own machine as gone", {}, { gone: ["cp-1"] }, /--gone cp-1: only another control plane than cp-1/],
    ["a worker as gone", {}, { gone: ["w-1"] }, /--gone w-1: only another control plane/],
  ] as [string, Record<string, Remains | undefined>, { gone?: string[] }, RegExp][])
    it(`refuses ${name}`, () => {
      const all = new Map([...allDead, ...Object.entries(remains)]);
      const asked = new Map(
        [...all].flatMap(([each, of]) => (of === undefined ? [] : [[each, of] as const])),
      );
      const { refusals } = plan(asked, given);
      assert.equal(refusals.length, 1, refusals.join("\n"));
      assert.match(refusals[0] ?? "", refusal);
    });

  for (const [name, remains, given] of [
    ["replaces a living cluster when it is told to", living, { discardLiving: true }],
    ["continues what an earlier run began", { ...living, restored: SNAPSHOT }, {}],
    ["continues there without space and programs", { ...living, ...UNFIT, restored: SNAPSHOT }, {}],
  ] as const)
    it(name, () => assert.deepEqual(plan(new Map([...allDead, ["cp-1", remains]]), given).refusals, []));

  for (const [name, change, refusal] of [
    ["another cluster", { cluster: "other" }, /a snapshot of the cluster other, and not of demo/],
    ["another stack", { stack: "2f1c9c6e" }, /another stack's cluster of that name \(2f1c9c6e\)/],
    ["a machine that the stack does not have", { machine: "cp-9" }, /cp-9, which is not a control plane/],
    ["a worker", { machine: "w-1" }, /w-1, which is not a control plane/],
  ] as const)
    it(`refuses a snapshot of ${name}`, () => {
      const found = plan(allDead, {}, { ...facts, ...change });
      assert.equal(found.refusals.length, 1);
      assert.match(found.refusals[0] ?? "", refusal);
      assert.ok(!("machine" in found));
    });
});

describe("what is left of a control plane", () => {
  const NOTHING = { api: false, prepared: false, programs: false, fits: 0 };
  for (const [answer, remains] of [
    ["", NOTHING],
    ["api\n", { ...NOTHING, api: true }],
    [`api\nrestored ${SNAPSHOT}\n`, { ...NOTHING, api: true, restored: SNAPSHOT }],
    ["prepared\nprograms\nfits 1048576\n", { api: false, prepared: true, programs: true, fits: 1048576 }],
  ] as const)
    it(`is read from ${JSON.stringify(answer)}`, () => assert.deepEqual(parseRemains(answer), remains));
});
