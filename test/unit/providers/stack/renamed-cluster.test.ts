import assert from "node:assert/strict";
import { renamedCluster } from "../../../../providers/stack/plan/renamed-cluster";

describe("the cluster of a stack", () => {
  it("keeps its name, and may get one in a stack of an earlier release or in a program of its own", () => {
    for (const [before, now] of [
      ["prod", "prod"],
      [undefined, "prod"],
      ["prod", undefined],
    ])
      assert.equal(renamedCluster(before, now), undefined);
  });

  it("is not renamed, and both names are printable in the refusal", () => {
    const words = renamedCluster("prod", "x\u001b[2J") ?? "";
    assert.match(
      words,
      /is prod, and can't be renamed to x.*Write cluster\.name: prod, or, .* `pulumi destroy`/,
    );
    assert.ok(!words.includes("\u001b"));
  });
});
