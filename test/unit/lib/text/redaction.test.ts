import assert from "node:assert/strict";
import fc from "fast-check";
import { displayEngineLine } from "../../../../lib/text/display";
import { redact } from "../../../../lib/text/redaction";
import { MORE_SHAPES, PLAIN, SHAPES as SHAPES_OF_FIELDS } from "./redaction-shapes";

const SHAPES = [...SHAPES_OF_FIELDS, ...MORE_SHAPES];

describe("redaction", () => {
  it(`removes the secret of ${SHAPES.length} shapes, at least 200`, () => {
    assert.ok(SHAPES.length >= 200);
    for (const [text, secret] of SHAPES) {
      assert.ok(text.includes(secret), text);
      assert.equal(redact(text).includes(secret), false, `${text} → ${redact(text)}`);
    }
  });

  it("removes it within other text, and keeps that text", () => {
    for (const [text, secret] of SHAPES) {
      const safe = redact(`before\n${text}\nafter it`);
      assert.equal(safe.includes(secret), false, safe);
      assert.match(safe, /^before\n/);
    }
  });

  it(`leaves ${PLAIN.length} texts without secrets unchanged, alone and among others`, () => {
    assert.ok(PLAIN.length >= 60);
    for (const text of PLAIN) {
      assert.equal(redact(text), text);
      assert.equal(redact(`before\n${text}\nafter it`), `before\n${text}\nafter it`);
    }
  });

  it("removes it also from lines of the engine, whose colors divide names from values", () => {
    for (const [text, secret] of SHAPES)
      if (!text.includes("\n")) {
        const colored = text.replace(secret, `\u001b[33m${secret}\u001b[0m`);
        const shown = displayEngineLine(`\u001b[1m${colored}\u001b[0m`);
        assert.equal(shown.includes(secret), false, `${colored} → ${shown}`);
      }
    const harmless = "\u001b[1mw-1: join as worker\u001b[0m";
    assert.equal(displayEngineLine(harmless), harmless);
  });

  it("changes nothing the second time", () => {
    for (const [text] of SHAPES) assert.equal(redact(redact(text)), redact(text), text);
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => redact(redact(text)) === redact(text)));
  });

  it("takes linear time", () => {
    const milliseconds = (text: string) => {
      // of this process alone, since other tests run beside it
      const started = process.cpuUsage();
      redact(text);
      return process.cpuUsage(started).user / 1e3;
    };
    const parts = [
      "a",
      "password",
      "token: ",
      "a://b:",
      "-----BEGIN PRIVATE KEY",
      "<password>",
      " -u a",
      '"\\',
      "\n  ",
      " ",
      "\n",
      "-",
      "/",
      ".",
      "name: ",
      '"value":"x",',
      "login ",
      "password: [",
      "tokens:\n- a\n",
      "password is ",
      "$6$",
      "bearer ",
      "https://",
      "x-a",
      "certificate key ",
      "eyJ",
      "eyJ.",
      "-eyJ",
      "a-eyJ1",
      "token: [x ",
      "sk-",
      "password: a b ",
      "docker login ",
    ];
    for (const part of parts) {
      const text = part.repeat(Math.ceil(200_000 / part.length));
      assert.ok(milliseconds(text) < 5_000, `${JSON.stringify(part)} takes too long`);
    }
  });
});
