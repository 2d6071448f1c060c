import assert from "node:assert/strict";
import type { ReadFacts } from "../../../../../providers/kubeadm/plan/facts/machine-facts";
import { type FoundMark, parseMachineMark } from "../../../../../providers/kubeadm/plan/facts/machine-mark";
import {
  becomesWorker,
  decideMachines,
  formerOf,
  giveBack,
  ownershipOf,
  type RecordedMachine,
} from "../../../../../providers/kubeadm/plan/facts/ownership";

const ID = "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42";
const OTHER = "0b9e2d11-6a3f-4c2b-8d57-1f1f3f0a7c3d";
const SELF = { id: ID, stack: "org/shop/prod" };
const OF_OTHER = `cluster=demo machine=w-1 stack=org/shop/other id=${OTHER}`;
const OWN = `cluster=demo machine=w-1 stack=org/shop/prod id=${ID}`;

const machine = (name: string, address = `192.0.2.${name.length}`): RecordedMachine => ({
  ...{ name, address, port: 22, user: "root", hostKey: "ssh-ed25519 AAAA" },
});
const said = (mark: string, identity = ""): ReadFacts => ({ mark: parseMachineMark(mark), identity });
const asked = { cluster: "demo", machine: "w-1", self: SELF };

describe("the mark of a machine", () => {
  const cases: [text: string, mark: FoundMark][] = [
    ["", "none"],
    ["\n", "none"],
    ["cluster=demo machine=w-1\n", { cluster: "demo", machine: "w-1" }],
    [`${OWN}\n`, { cluster: "demo", machine: "w-1", owner: { id: ID, stack: "org/shop/prod" } }],
    ["cluster=demo machine=w-1.example.com", { cluster: "demo", machine: "w-1.example.com" }],
    ["cluster=demo.example machine=w-1", { damaged: "cluster=demo.example machine=w-1" }],
    ["cluster=demo", { damaged: "cluster=demo" }],
    [
      `cluster=demo machine=w-1 stack=a id=${"z".repeat(36)}`,
      { damaged: `cluster=demo machine=w-1 stack=a id=${"z".repeat(36)}` },
    ],
    ["\u001b[2Kgone\u202e", { damaged: "\\u{1b}[2Kgone\\u{202e}" }],
    [OWN + OWN, { damaged: `${(OWN + OWN).slice(0, 80)}…` }],
    ["x".repeat(100_000), { damaged: `${"x".repeat(80)}…` }],
  ];
  for (const [text, mark] of cases)
    it(`is read from ${JSON.stringify(text.slice(0, 60))}`, () =>
      assert.deepEqual(parseMachineMark(text), mark));

  const owners: [what: string, facts: ReadFacts, takeOver: string | undefined, is: string, words?: RegExp][] =
    [
      ["none", said(""), undefined, "free"],
      ["this stack's", said(OWN), undefined, "own"],
      ["this stack's under an earlier name", said(OWN.replace("prod", "old")), undefined, "own"],
      [
        "another stack's",
        said(OF_OTHER),
        undefined,
        "refused",
        /belongs to the stack org\/shop\/other \(0b9e/,
      ],
      ["another stack's, taken over", said(OF_OTHER), OTHER, "takeOver"],
      ["an earlier release's", said("cluster=demo machine=w-1"), undefined, "unnamed"],
      ["an earlier release's, taken over", said("cluster=demo machine=w-1"), "unmarked", "takeOver"],
      ["damaged", said("\u0007"), undefined, "refused", /is damaged \(\\u\{7\}\)/],
      [
        "another machine's",
        said(OWN.replace("w-1", "w-7")),
        undefined,
        "refused",
        /can't be renamed.*write name: w-7/,
      ],
      [
        "another cluster's",
        said(OWN.replace("demo", "shop")),
        undefined,
        "refused",
        /write cluster\.name: shop/,
      ],
      [
        "another stack's cluster of another name",
        said(OF_OTHER.replace("demo", "shop")),
        undefined,
        "refused",
        /which is w-1 of the cluster shop/,
      ],
      [
        "another cluster's, although it is taken over",
        said(OF_OTHER.replace("demo", "shop")),
        OTHER,
        "refused",
        /cluster shop/,
      ],
      ["unread", { unread: "no answer" }, undefined, "unread"],
    ];
  for (const [what, facts, takeOver, is, words] of owners)
    it(`makes the machine ${is} when it is ${what}`, () => {
      const found = ownershipOf({ ...asked, self: { ...SELF, takeOver } }, facts);
      assert.equal(found.is, is);
      if (words) assert.match("reason" in found ? found.reason : "", words);
    });

  it("belongs to no stack that has no identity yet", () => {
    assert.equal(ownershipOf({ ...asked, self: { stack: "org/shop/prod" } }, said(OWN)).is, "refused");
  });
});

describe("the machines of a stack before they are recorded", () => {
  const decide = (
    facts: Record<string, ReadFacts>,
    args: Partial<Parameters<typeof decideMachines>[1]> = {},
  ) =>
    decideMachines(SELF, {
      cluster: "demo",
      machines: Object.keys(facts).map((name) => machine(name)),
      facts: new Map(Object.entries(facts)),
      isNew: true,
      ...args,
    });

  it("are refused with their paths, and what could not be read is a line", () => {
    const { failures, steps } = decide({
      "cp-1": said(""),
      "w-1": said(OF_OTHER),
      "w-22": { unread: "no answer" },
    });
    assert.deepEqual(
      failures.map(({ property }) => property),
      ["cluster.machines[1]"],
    );
    assert.deepEqual(steps, [{ kind: "unread", machine: "w-22", what: "whose machine it is: no answer" }]);
  });

  it("are refused as workers when an interrupted run began to join them as control planes: etcd may have them", () => {
    const begun = { ...said(OWN), begunControlPlane: true } as const;
    const as = (group: string) => ({ machines: [{ ...machine("w-1"), group }] });
    assert.match(
      decide({ "w-1": begun }, as("workers")).failures[0]?.reason ?? "",
      /began to join w-1 as a control plane, and it can't become a worker in one run: take it out/,
    );
    const ofEarlierRelease = { ...begun, ...said("cluster=demo machine=w-1") };
    assert.match(
      decide({ "w-1": ofEarlierRelease }, as("workers")).failures[0]?.reason ?? "",
      /began to join/,
    );
    const isOne = { ...said(OWN), member: true, fixed: { podSubnet: "10.244.0.0/16" } } as ReadFacts;
    assert.match(
      decide({ "w-1": isOne }, as("workers")).failures[0]?.reason ?? "",
      /joined w-1 as a control/,
    );
    assert.deepEqual(decide({ "w-1": begun }, as("control-plane")).failures, []);
    assert.deepEqual(decide({ "w-1": said(OWN) }, as("workers")).failures, []);
    const recorded = (group: string) => [{ ...machine("w-1"), group }];
    assert.ok(becomesWorker(recorded("control-plane"), recorded("workers")[0]!));
    assert.ok(!becomesWorker(recorded("workers"), recorded("other")[0]!));
    assert.ok(!becomesWorker(recorded("workers"), recorded("control-plane")[0]!));
    assert.ok(!becomesWorker([machine("w-1")], machine("w-1")));
  });

  it("are refused when two names mean the same machine", () => {
    const { failures } = decide({ "w-1": said("", "same"), "w-22": said("", "same") });
    assert.match(failures[0]?.reason ?? "", /w-22 and w-1 are the same machine/);
    assert.deepEqual(decide({ "w-1": said("", ""), "w-22": said("", "") }).failures, []);
  });

  it("are refused under another name at the same address, also when they do not answer", () => {
    const facts = new Map<string, ReadFacts>([["w-9", { unread: "no answer" }]]);
    const { failures } = decideMachines(SELF, {
      ...{ cluster: "demo", machines: [machine("w-9", "192.0.2.50")], facts, isNew: false },
      recorded: [machine("w-1", "192.0.2.50")],
    });
    assert.match(failures[0]?.reason ?? "", /w-9 has the address of the machine w-1.*write name: w-1/);
  });

  it("are refused with an earlier release's mark, unless the cluster's own state may know them", () => {
    const facts = { "w-1": said("cluster=demo machine=w-1") };
    assert.deepEqual(decide(facts).unnamed, ["w-1"]);
    assert.match(
      decide(facts, { isNew: false, recorded: [] }).failures[0]?.reason ?? "",
      /takeOver: unmarked/,
    );
  });
});

describe("the machines that left the configuration", () => {
  const before = { machines: [machine("w-1"), machine("w-22")], former: [machine("w-333")] };
  const names = (lost: string[], facts: [string, ReadFacts][] = []) =>
    formerOf(before, [machine("w-1")], { lost, facts: new Map(facts) }).map(({ name }) => name);

  it("stay recorded until their marks are seen gone, or they are lost", () => {
    assert.deepEqual(names([]), ["w-333", "w-22"]);
    assert.deepEqual(names(["w-22"]), ["w-333"]);
    assert.deepEqual(
      names(
        [],
        [
          ["w-22", said("")],
          ["w-333", { unread: "no answer" }],
        ],
      ),
      ["w-333"],
    );
  });

  it("are given back only with this stack's mark", () => {
    assert.equal(giveBack(asked, said(OWN)), "give back");
    assert.equal(giveBack(asked, said("")), "nothing");
    assert.equal(giveBack(asked, said("cluster=demo machine=w-1")), "nothing");
    assert.ok("foreign" in (giveBack(asked, said(OF_OTHER)) as object));
    assert.deepEqual(giveBack(asked, { unread: "no answer" }), { unread: "no answer" });
  });
});
