import assert from "node:assert/strict";
import fc from "fast-check";
import {
  connectionNames,
  nameFromParts,
  tumblebugNameIssue,
  registeredName,
} from "../../../../providers/tumblebug/plan/names";

describe("names of Tumblebug's objects", () => {
  it("say the cluster, the connection and what they are", () => {
    assert.deepEqual(connectionNames("ns1", "k1", "aws-seoul"), {
      vNet: "k1-aws-seoul-vpc",
      subnet: "k1-aws-seoul-subnet",
      nodes: "k1-aws-seoul-sg",
      controlPlanes: "k1-aws-seoul-control-planes-sg",
      sshKey: "k1-aws-seoul-sshkey",
    });
  });

  it("of machine types and images stay distinct where a cloud's own names do", () => {
    assert.match(
      registeredName("spec", "ns1", "k1", "aws-seoul", "t3.medium"),
      /^k1-aws-seoul-t3-medium-spec-[0-9a-z]{6}$/,
    );
    assert.notEqual(
      registeredName("spec", "ns1", "k1", "aws-seoul", "t3.medium"),
      registeredName("spec", "ns1", "k1", "aws-seoul", "t3-medium"),
    );
    assert.notEqual(
      registeredName("image", "ns1", "k1", "c", "a:b"),
      registeredName("image", "ns1", "k1", "c", "a/b"),
    );
  });

  const words = fc.array(fc.string({ maxLength: 90 }), { minLength: 1, maxLength: 4 });

  it("are valid for Tumblebug and within the clouds' limits, and the same in every run", () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 12, max: 63 }), (parts, room) => {
        const name = nameFromParts(parts, room);
        assert.equal(tumblebugNameIssue(name), undefined, name);
        assert.ok(name.length <= room, name);
        assert.equal(nameFromParts([...parts], room), name);
      }),
    );
  });

  it("of different parts differ, however long they are", () => {
    fc.assert(
      fc.property(words, words, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        // plain words could be split in two ways, which the configuration does not mix
        fc.pre(one.join("-") !== other.join("-"));
        assert.notEqual(nameFromParts(one, 40), nameFromParts(other, 40));
      }),
    );
  });

  for (const [name, wrong] of [
    ["k1", false],
    ["k-1", false],
    ["a", false],
    ["1k", true],
    ["k1-", true],
    ["K1", true],
    ["k_1", true],
    ["", true],
  ] as const)
    it(`${JSON.stringify(name)} is ${wrong ? "no " : "a "}name`, () => {
      assert.equal(tumblebugNameIssue(name) !== undefined, wrong);
    });
});
