import assert from "node:assert/strict";
import { isPlainHttpToOtherHost } from "../../../../lib/validation/urls";

describe("plain http to another host", () => {
  const here = [
    ...["localhost", "LOCALHOST:1323", "127.0.0.1", "127.8.9.10:80", "[::1]:1323", "[0:0:0:0:0:0:0:1]"],
    // other notations of 127.0.0.1
    ...["127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1"],
  ];
  for (const host of here)
    it(`is not http://${host}`, () =>
      assert.equal(isPlainHttpToOtherHost(`http://${host}/tumblebug`), false));

  const elsewhere = [
    ...["example.org", "192.0.2.1", "128.0.0.1", "[::2]", "[::ffff:192.0.2.1]", "0.0.0.0"],
    ...[
      "localhost.example.org",
      "127.0.0.1.example.org",
      "localhost@192.0.2.1",
      "xlocalhost",
      "1270.0.0.1.org",
    ],
  ];
  for (const host of elsewhere)
    it(`is http://${host}`, () => assert.equal(isPlainHttpToOtherHost(`http://${host}/tumblebug`), true));

  it("is not https, nor a text that is no URL", () => {
    assert.equal(isPlainHttpToOtherHost("https://192.0.2.1/"), false);
    assert.equal(isPlainHttpToOtherHost("HTTP://192.0.2.1/"), true);
    assert.equal(isPlainHttpToOtherHost("192.0.2.1"), false);
  });
});
