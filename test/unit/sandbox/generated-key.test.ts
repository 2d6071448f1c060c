import assert from "node:assert/strict";
import { utils } from "ssh2";
import { generateKey } from "../../../sandbox/nodes/generated-key";

describe("a generated key", () => {
  it("can be read, again and again", () => {
    for (let count = 0; count < 1000; count++) {
      const { private: key } = generateKey({ comment: "node" });
      const read = utils.parseKey(key);
      assert.ok(!(read instanceof Error));
    }
  });
});
