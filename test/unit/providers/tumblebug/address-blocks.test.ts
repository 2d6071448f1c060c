import assert from "node:assert/strict";
import fc from "fast-check";
import { connectionBlocks, roomOf } from "../../../../providers/tumblebug/plan/address-blocks";
import { cidrsOverlap, parseCidr } from "../../../../lib/validation/addresses";

const BASE = "10.21.0.0/16";
const named = (...names: string[]) => names.map((name) => ({ name }));

describe("the blocks of the connections", () => {
  it("are a /24 of the base, by the name, and the same in every run", () => {
    const blocks = connectionBlocks(BASE, named("aws-seoul", "gcp-tokyo"));
    assert.deepEqual([...blocks], [...connectionBlocks(BASE, named("aws-seoul", "gcp-tokyo"))]);
    for (const block of blocks.values()) assert.match(block, /^10\.21\.\d+\.0\/24$/);
  });

  it("stay when another connection is added or removed", () => {
    const two = connectionBlocks(BASE, named("aws-seoul", "gcp-tokyo"));
    assert.equal(connectionBlocks(BASE, named("gcp-tokyo")).get("gcp-tokyo"), two.get("gcp-tokyo"));
    const three = connectionBlocks(BASE, named("aws-seoul", "gcp-tokyo", "azure-seoul"));
    assert.deepEqual(three.get("aws-seoul"), two.get("aws-seoul"));
  });

  it("that are configured are kept, and no other block overlaps them", () => {
    const blocks = connectionBlocks("10.21.0.0/23", [
      { name: "aws-seoul", cidr: "10.21.1.0/25" },
      { name: "gcp-tokyo" },
    ]);
    assert.deepEqual(Object.fromEntries(blocks), {
      "aws-seoul": "10.21.1.0/25",
      "gcp-tokyo": "10.21.0.0/24",
    });
  });

  it("are omitted where there is no room", () => {
    assert.equal(connectionBlocks("10.21.0.0/24", named("a", "b")).size, 1);
    assert.deepEqual([roomOf("10.21.0.0/22"), roomOf("10.21.0.0/25")], [4, 0]);
  });

  it("never overlap, whatever the connections are called", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 40 }), (names) => {
        const blocks = [...connectionBlocks(BASE, named(...names)).values()].map((text) => parseCidr(text)!);
        assert.equal(blocks.length, names.length);
        blocks.forEach((block, index) =>
          assert.ok(blocks.slice(0, index).every((other) => !cidrsOverlap(block, other))),
        );
      }),
    );
  });
});
