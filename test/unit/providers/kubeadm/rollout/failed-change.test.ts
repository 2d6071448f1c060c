import assert from "node:assert/strict";
import {
  formatFailedChange,
  parseFailedChange,
} from "../../../../../providers/kubeadm/plan/rollout/failed-change";

const ASKED = { configuration: "m1.k2" };

describe("the annotation for a failed change", () => {
  it("is read as it was written", () => {
    const change = { asked: ASKED, why: "the kubelet ended three times" };
    assert.deepEqual(parseFailedChange(formatFailedChange(change)), change);
  });

  it("has a reason on one line, of limited length, without control characters", () => {
    const { why } = parseFailedChange(
      JSON.stringify({ asked: ASKED, why: `a\nb\u001b[31m${"x".repeat(600)}` }),
    )!;
    assert.doesNotMatch(why, /[\p{Cc}]/u);
    assert.ok(why.length < 510);
  });

  for (const text of [
    undefined,
    "",
    "{",
    "[]",
    "1",
    "null",
    "{}",
    '{"asked":{},"why":"a"}',
    '{"asked":{"kubelet":1},"why":"a"}',
    '{"asked":{"kubelet":"1"}}',
  ])
    it(`is ignored as ${text}`, () => assert.equal(parseFailedChange(text), undefined));
});
