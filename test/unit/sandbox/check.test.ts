import assert from "node:assert/strict";
import { decideReady } from "../../../sandbox/check/node-readiness";
import { CHECK_NAMESPACE, echoObjects } from "../../../sandbox/check/echo-objects";

const node = (name: string, status: string) => ({
  metadata: { name },
  status: { conditions: [{ type: "Ready", status, reason: "KubeletNotReady" }] },
});

describe("the check of a cluster", () => {
  it("waits for every desired node, and names the one that is not Ready", () => {
    assert.deepEqual(decideReady(["cp-1", "w-1"], [node("cp-1", "True"), node("w-1", "False")]), {
      pending: "w-1: KubeletNotReady",
    });
    assert.deepEqual(decideReady(["cp-1", "w-1"], [node("cp-1", "True")]), { pending: "w-1: not there" });
    assert.deepEqual(decideReady(["cp-1"], [node("cp-1", "True"), node("w-9", "False")]), { done: true });
  });

  it("applies the namespace before its objects", () => {
    const [first, ...others] = echoObjects;
    assert.equal(first?.kind, "Namespace");
    for (const { metadata } of others)
      assert.equal("namespace" in metadata && metadata.namespace, CHECK_NAMESPACE);
  });
});
