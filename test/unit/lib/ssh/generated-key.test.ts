import assert from "node:assert/strict";
import { utils } from "ssh2";
import { generateKey } from "../../../../lib/ssh/generated-key";

describe("a generated key", () => {
  it("can be read, again and again", () => {
    for (let count = 0; count < 1000; count++) {
      const { private: own, public: shared } = generateKey({ comment: "node" });
      assert.ok(!(utils.parseKey(own) instanceof Error));
      assert.ok(!(utils.parseKey(shared) instanceof Error));
    }
  });
});
