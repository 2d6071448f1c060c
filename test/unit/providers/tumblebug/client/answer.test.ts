import assert from "node:assert/strict";
import {
  list,
  readAnswer,
  record,
  answerText,
  wholeNumber,
} from "../../../../../providers/tumblebug/client/answer";

describe("a response of Tumblebug, read by a table of fields", () => {
  const schema = record({
    name: [answerText, "id|name"],
    zone: [answerText, "region?.Zone"],
    port: [wholeNumber, "listener.port"],
    ports: [list(record({ from: [answerText, "From"] })), "ports"],
    all: [answerText.optional().catch("whole"), ""],
  });
  const read = (body: unknown) => readAnswer("GET /x", schema, { body });
  const whole = { id: "", name: "n", region: { Zone: "z" }, listener: { port: "1" }, ports: [{ From: "2" }] };

  it("uses the first of several paths that has a value, and the object itself for an empty path", () => {
    const expected = { name: "n", zone: "z", port: 1, ports: [{ from: "2" }], all: "whole" };
    assert.deepEqual(read(whole), expected);
    assert.equal(read({ ...whole, id: "i" }).name, "i");
  });

  it("reads through an object that may be absent", () => {
    assert.equal(read({ ...whole, region: null }).zone, "");
    assert.equal(read({ ...whole, region: undefined }).zone, "");
  });

  for (const [body, issue] of [
    [[], /the response: /],
    ["text", /the response: /],
    [{ ...whole, id: 7 }, /: id: .*expected string/],
    [{ ...whole, region: "r" }, /: region: expected an object/],
    [{ ...whole, listener: undefined }, /: listener: is missing/],
    [{ ...whole, listener: 7 }, /: listener: expected an object/],
    [{ ...whole, ports: [{ From: [] }] }, /: ports\.0\.From: .*expected string/],
  ] as const)
    it(`names the wrong field of ${JSON.stringify(body)}`, () => {
      assert.throws(() => read(body), issue);
    });
});
