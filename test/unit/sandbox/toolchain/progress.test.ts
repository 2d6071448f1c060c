import assert from "node:assert/strict";
import { createReporter } from "../../../../sandbox/progress";

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[mK]`, "g");

/** Collects what a reporter writes. */
function outputOf(isTTY: boolean) {
  const written: string[] = [];
  return { written, isTTY, columns: 60, write: (text: string) => written.push(text) };
}

describe("the progress of the setup", () => {
  it("prints plain lines without a terminal: what, seconds and origin", async () => {
    const output = outputOf(false);
    const result = await createReporter(output).step("etcd 3.6.5", (update) => {
      update("built 12 packages");
      return Promise.resolve({ from: "built" as const, answer: 42 });
    });
    assert.equal(result.answer, 42);
    const lines = output.written.join("").replace(ESCAPES, "");
    assert.match(lines, /^… etcd 3\.6\.5\n✓ etcd 3\.6\.5 \(\d+\.\d s, built\)\n$/);
  });

  it("prints one live line on a terminal, never wider than it", async () => {
    const output = outputOf(true);
    await createReporter(output).step("etcd", (update) => {
      update("x".repeat(200));
      return Promise.resolve(undefined);
    });
    const plain = output.written.map((text) => text.replace(ESCAPES, ""));
    assert.ok(plain.some((text) => text.includes("etcd 0 s xxx")));
    assert.ok(plain.every((text) => text.length <= 61));
    assert.match(plain.at(-1) ?? "", /✓ etcd \(\d+\.\d s\)\n$/);
  });

  it("reports that a step failed and passes its error on", async () => {
    const output = outputOf(false);
    const failed = createReporter(output).step("etcd", () => Promise.reject(new Error("no disk")));
    await assert.rejects(failed, /no disk/);
    assert.match(output.written.join(""), /✗.* etcd failed after/);
  });
});
