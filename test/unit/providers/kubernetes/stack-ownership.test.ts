import assert from "node:assert/strict";
import fc from "fast-check";
import { readStep } from "../../../../cli/review/steps";
import {
  ADOPTED_BY,
  type Claim,
  decideAdoption,
  MADE_BY,
  marks,
  OWNER_ID,
  ownMarks,
  relationTo,
} from "../../../../providers/kubernetes/plan/adoption";
import { adoptionSteps } from "../../../../providers/kubernetes/plan/steps";
import {
  claimOf,
  leftToDo,
  placeIssue,
  type RecordedAdoption,
} from "../../../../providers/kubernetes/resources/adoption-inputs";

const ID = "2f1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42";
const OTHER = "11111111-2222-4333-8444-555555555555";
const SELF: Claim = { stack: "p/s", owner: { id: ID, stack: "o/p/s" }, recordedAs: [] };
const RECORDED: Claim = { ...SELF, recordedAs: ["p/s"] };
/** State of an earlier release. */
const EARLIER: Claim = { stack: "p/s", recordedAs: ["p/s"] };

const made = (stack: string, id?: string) => ({
  [MADE_BY]: stack,
  ...(id === undefined ? {} : { [OWNER_ID]: id }),
});
const adopted = (stack: string, id?: string) => ({
  [ADOPTED_BY]: stack,
  ...(id === undefined ? {} : { [OWNER_ID]: id }),
});

describe("the stack that an object's annotations name", () => {
  const foreign = (
    owner: string,
    next = `destroy or release it there, or, to take it over from that stack, write takeOver: ${OTHER}`,
  ) => ({
    do: "refuse",
    owner,
    next,
  });
  const namesake = foreign(
    `a stack of the same name with another identity, o/p/s (${OTHER}): the state of this stack was lost, or is in another backend`,
    `use that state, or, if it is lost, write takeOver: ${OTHER}`,
  );
  const unmarked = (name: string, why = "") =>
    foreign(
      `the stack ${name}, which an earlier release of foresail recorded without its identity${why}`,
      "destroy or release it there, or, to take it over, write takeOver: unmarked",
    );
  const notInState = ", and this stack of that name does not have it in its state";

  const table: [what: string, annotations: Record<string, string>, claim: Claim, decision: object][] = [
    ["this one, which made it", made("o/p/s", ID), SELF, { do: "keep", isMade: true }],
    ["this one, which adopted it", adopted("o/p/s", ID), SELF, { do: "keep", isMade: false }],
    [
      "this one, under its earlier name",
      made("o/p/old", ID),
      SELF,
      { do: "keep", isMade: true, former: "o/p/old" },
    ],
    ["one of the same name, whatever the state has", made("o/p/s", OTHER), RECORDED, namesake],
    [
      "one of the same short name in another organization",
      made("x/p/s", OTHER),
      RECORDED,
      foreign(`the stack x/p/s (${OTHER})`),
    ],
    [
      "another one, before this one has an identity",
      made("o/p/s", OTHER),
      { ...SELF, owner: { stack: "o/p/s" } },
      namesake,
    ],
    [
      "another one, whose name was removed",
      { [OWNER_ID]: OTHER },
      SELF,
      foreign(`the stack (no name) (${OTHER})`),
    ],
    [
      "another one, which adopted what this one made",
      { ...made("p/s"), ...adopted("o/p/o", OTHER) },
      RECORDED,
      foreign(`the stack o/p/o (${OTHER})`),
    ],
    [
      "another one, which hands over what it made",
      made("o/p/o", OTHER),
      { ...SELF, takeOver: OTHER },
      { do: "takeOver", from: `o/p/o (${OTHER})`, isMade: true },
    ],
    [
      "another one, which hands over what it adopted",
      adopted("o/p/o", OTHER),
      { ...SELF, takeOver: OTHER },
      { do: "takeOver", from: `o/p/o (${OTHER})`, isMade: false },
    ],
    [
      "another one than the one that hands over",
      made("o/p/o", OTHER),
      { ...SELF, takeOver: ID },
      foreign(`the stack o/p/o (${OTHER})`),
    ],
    [
      "another one with an identity, which `unmarked` does not take over",
      made("o/p/o", OTHER),
      { ...SELF, takeOver: "unmarked" },
      foreign(`the stack o/p/o (${OTHER})`),
    ],
    [
      "this one, by an earlier release, and the state has it",
      made("p/s"),
      RECORDED,
      { do: "keep", isMade: true, former: "p/s" },
    ],
    [
      "this one, by an earlier release and before its rename, and the state has it",
      made("p/old"),
      { ...SELF, recordedAs: ["p/old"] },
      { do: "keep", isMade: true, former: "p/old" },
    ],
    [
      "one of the same name, by an earlier release, and the state does not have it",
      made("p/s"),
      SELF,
      unmarked("p/s", notInState),
    ],
    ["another one, by an earlier release", made("p/o"), RECORDED, unmarked("p/o")],
    [
      "another one, by an earlier release, which adopted what the state has",
      adopted("p/o"),
      RECORDED,
      unmarked("p/o"),
    ],
    [
      "another one, by an earlier release, taken over",
      made("p/o"),
      { ...SELF, takeOver: "unmarked" },
      { do: "takeOver", from: "p/o", isMade: true },
    ],
    ["another one, by a damaged identity", made("o/p/o", `${OTHER}\n`), SELF, unmarked("o/p/o")],
    ["this one, in state of an earlier release", made("p/s"), EARLIER, { do: "keep", isMade: true }],
    ["another one, in state of an earlier release", made("p/o"), EARLIER, unmarked("p/o")],
  ];
  for (const [what, annotations, { ...claim }, decision] of table)
    it(`is ${what}`, () => {
      const existing = { metadata: { annotations } };
      assert.deepEqual(decideAdoption(existing, { ...claim, owners: [], adopt: false }), decision);
      // `adopt: true` never takes anything from a stack
      assert.deepEqual(decideAdoption(existing, { ...claim, owners: [], adopt: true }), decision);
    });

  it("is never this one with another identity, whatever names the annotations and the state have", () => {
    const name = fc.constantFrom("p/s", "o/p/s", "p/old", "x");
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), name, name, fc.boolean(), (one, other, found, stack, isAdopted) => {
        fc.pre(one !== other);
        const claim = { stack, owner: { id: one, stack }, recordedAs: [stack, found] };
        const annotations = isAdopted ? adopted(found, other) : made(found, other);
        assert.equal(relationTo(annotations, claim).is, "foreign");
        assert.deepEqual(ownMarks(annotations, claim), []);
      }),
    );
  });

  it("is this one again by what it writes", () => {
    for (const isMade of [true, false])
      assert.deepEqual(relationTo(marks(SELF, isMade), SELF), { is: "own", isMade });
  });

  it("is named without control characters", () => {
    const relation = relationTo(made(`p/\u001b[2K${"x".repeat(500)}`, OTHER), SELF);
    assert.ok(relation.is === "foreign");
    assert.ok(!relation.owner.includes("\u001b"));
    assert.ok(relation.owner.length < 200, relation.owner);
  });

  it("may be this one whose state has no identity, after a run that was killed", () => {
    const ofNamesake = relationTo(made("o/p/s", OTHER), EARLIER);
    assert.ok(ofNamesake.is === "foreign" && ofNamesake.isNamesake);
    const ofOther = relationTo(made("o/p/o", OTHER), EARLIER);
    assert.ok(ofOther.is === "foreign" && !ofOther.isNamesake);
    const known = relationTo(made("o/p/s", OTHER), SELF);
    assert.ok(known.is === "foreign" && !known.isNamesake);
  });

  it("leaves nothing of itself on an object that it releases, and what others wrote", () => {
    assert.deepEqual(ownMarks({ ...adopted("o/p/s", ID), theirs: "yes" }, SELF), [ADOPTED_BY, OWNER_ID]);
    assert.deepEqual(ownMarks(made("p/s"), RECORDED), [MADE_BY]);
    assert.deepEqual(ownMarks(made("o/p/o", OTHER), SELF), []);
    assert.deepEqual(ownMarks({ theirs: "yes" }, SELF), []);
  });
});

describe("the object in the place of another one", () => {
  const record = { apiVersion: "azimuth.stackhpc.com/v1alpha1", kind: "Cluster", namespace: "n", name: "a" };
  const inputs = {
    kubeconfig: "",
    stack: "p/s",
    owner: { id: ID, stack: "o/p/s" },
    timeoutSeconds: 1,
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a-foresail", namespace: "n" } },
    insteadOf: record,
  };
  const issue = (annotations: Record<string, string> | Error | undefined, over: object = {}) => {
    const answer =
      annotations instanceof Error
        ? Promise.reject(annotations)
        : Promise.resolve(annotations && { metadata: { annotations } });
    const kubernetes = { get: () => answer } as unknown as Parameters<typeof placeIssue>[0];
    return placeIssue(kubernetes, { ...inputs, ...over });
  };
  const forbidden = Object.assign(new Error("forbidden"), { status: 403 });
  const notServed = Object.assign(new Error("no kind"), { name: "KindNotServed" });

  it("is no reason to refuse if it is this stack's, of no stack, missing, not served or can't be read", async () => {
    for (const found of [made("o/p/s", ID), made("p/s"), {}, undefined, forbidden, notServed])
      assert.equal(await issue(found), undefined);
    await assert.rejects(issue(new Error("away")), /away/);
  });

  it("is one if it is another stack's, also in a hand-over", async () => {
    const foreign = /^Cluster n\/a belongs to the stack o\/p\/o \(.*takeOver: 11111111/;
    assert.match((await issue(made("o/p/o", OTHER), { adopt: true })) ?? "", foreign);
    assert.match(
      (await issue(made("o/p/o", OTHER), { takeOver: OTHER })) ?? "",
      /^the stack o\/p\/o \(.*\) has Cluster n\/a, and not ConfigMap n\/a-foresail; choose the same settings/,
    );
  });
});

describe("the steps about the owner of an object", () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };
  const inputs = {
    kubeconfig: "",
    stack: "p/s",
    owner: { id: ID, stack: "o/p/s" },
    timeoutSeconds: 1,
    object,
  };
  const steps = (annotations: Record<string, string>, olds?: RecordedAdoption, over: object = {}) =>
    leftToDo({ ...inputs, ...over }, { ...object, metadata: { ...object.metadata, annotations } }, olds).map(
      adoptionSteps.format,
    );
  const { owner: _owner, ...earlier } = inputs;

  it("record the stack on an object of an earlier release that the state has, and once", () => {
    assert.deepEqual(steps(made("p/s"), earlier), ["record this stack as its owner, instead of p/s"]);
    assert.deepEqual(steps(made("o/p/s", ID), inputs), []);
    // a run that was killed has marked the object
    assert.deepEqual(steps(made("o/p/s", ID), earlier), ["record this stack as its owner"]);
    // the state has another object of that resource
    const other = { ...earlier, object: { ...object, metadata: { name: "b", namespace: "n" } } };
    assert.deepEqual(claimOf(inputs, other).recordedAs, []);
  });

  it("record a rename, and nothing in a run that leaves the identity out", () => {
    assert.deepEqual(steps(made("o/p/old", ID), inputs), [
      "record this stack as its owner, instead of o/p/old",
    ]);
    assert.deepEqual(steps(made("p/s"), earlier, { owner: { id: "", stack: "o/p/s" } }), []);
  });

  it("write annotations again that others removed", () => {
    assert.deepEqual(steps({}, { ...inputs, uid: "1", made: true }), ["adopt it"]);
  });

  it("take an object over, which a review shows as a danger", () => {
    const [step = ""] = steps(made("o/p/o", OTHER), undefined, { takeOver: OTHER });
    assert.equal(step, `take it over from o/p/o (${OTHER})`);
    const danger = (line: string) => readStep("Adoption", line).danger(() => false);
    assert.equal(danger(step), "taken over");
    assert.equal(danger("record this stack as its owner, instead of p/s"), undefined);
    assert.equal(danger("adopt it, written by helm"), undefined);
  });
});
