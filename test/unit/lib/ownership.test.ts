import assert from "node:assert/strict";
import fc from "fast-check";
import {
  decideOwnership,
  foreignOwner,
  type Owner,
  type Ownership,
  parseOwner,
  type Self,
  takeOverIssue,
} from "../../../lib/ownership/owner";

const ID = "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42";
const OTHER = "0b9e2d11-6a3f-4c2b-8d57-1f1f3f0a7c3d";
const SELF: Self = { id: ID, stack: "org/shop/prod" };
const PROD: Owner = { id: OTHER, stack: "org/shop/prod" };

describe("the owner of an object", () => {
  const cases: [what: string, found: Owner | undefined, self: Self, is: Ownership["is"]][] = [
    ["this stack", { id: ID, stack: "org/shop/prod" }, SELF, "own"],
    ["this stack before it was renamed", { id: ID, stack: "org/shop/old" }, SELF, "renamed"],
    ["unknown without a mark", undefined, SELF, "unmarked"],
    ["another stack of the same name", PROD, SELF, "foreign"],
    ["another stack, from which this one takes over", PROD, { ...SELF, takeOver: OTHER }, "takeOver"],
    ["another stack than the former one", PROD, { ...SELF, takeOver: ID }, "foreign"],
    ["another stack, while this one has no identity yet", PROD, { stack: "org/shop/prod" }, "foreign"],
  ];
  for (const [what, found, self, is] of cases)
    it(`is ${what}`, () => assert.equal(decideOwnership(found, self).is, is));

  it("never is this stack with another identity, whatever the names are", () => {
    const uuid = fc.uuid();
    fc.assert(
      fc.property(uuid, uuid, fc.string(), fc.string(), (one, other, found, stack) => {
        fc.pre(one !== other);
        assert.equal(decideOwnership({ id: one, stack: found }, { id: other, stack }).is, "foreign");
      }),
    );
  });

  it("is named in a refusal with what to do, also for a stack of the same name", () => {
    const other = { id: OTHER, stack: "org/shop/staging" };
    assert.equal(
      foreignOwner("cp-1", other, SELF, "cluster.takeOver"),
      `cp-1 belongs to the stack org/shop/staging (${OTHER}); nothing of it was changed. Destroy or release it there, or, to take it over from that stack, write cluster.takeOver: ${OTHER}`,
    );
    assert.match(
      foreignOwner("cp-1", PROD, SELF, "cluster.takeOver"),
      /same name.*state of this stack was lost/,
    );
    assert.doesNotMatch(foreignOwner("the network", PROD, SELF), /takeOver|undefined/);
  });

  it("is read from a record, and from nothing else", () => {
    assert.deepEqual(parseOwner({ ...PROD }), PROD);
    for (const record of [
      {},
      { id: ID },
      { id: `${ID}\n`, stack: "a" },
      { id: ID, stack: "a\u001b[2K" },
      { id: 1, stack: "a" },
    ])
      assert.equal(parseOwner(record), undefined);
  });

  it("can be written as takeOver by its identity only", () => {
    assert.equal(takeOverIssue(OTHER), undefined);
    assert.equal(takeOverIssue("unmarked"), undefined);
    assert.match(takeOverIssue("org/shop/prod") ?? "", /not the identity of a stack/);
  });
});
