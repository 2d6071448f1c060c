import assert from "node:assert/strict";
import { isOwnCaller } from "../../../../sandbox/openstack/front/callers";

describe("who may connect to the sandbox's cloud", () => {
  const own = ["127.0.0.1", "192.0.2.7"];
  for (const [remote, expected] of [
    ["127.0.0.1", true],
    ["192.0.2.7", true],
    ["::ffff:192.0.2.7", true],
    ["10.77.3.11", true],
    ["192.0.2.8", false],
    ["10.78.0.1", false],
    ["2001:db8::1", false],
    [undefined, false],
  ] as const)
    it(`is ${remote ?? "no one"}: ${expected}`, () => {
      assert.equal(isOwnCaller(remote, own), expected);
    });
});
