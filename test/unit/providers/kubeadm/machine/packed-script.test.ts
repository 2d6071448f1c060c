import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, it } from "mocha";
import { packScript, UNPACK } from "../../../../../providers/kubeadm/machine/shell";

const onMachine = (stdin: string, command = `${UNPACK} | bash -s`) =>
  spawnSync("bash", ["-c", command], { input: stdin, encoding: "utf8" });

describe("a packed script", () => {
  it("runs unchanged, and reads the data after it", () => {
    const answer = onMachine(packScript('{\nread -r word; echo "got $word ä"; exit 3\n}\nsecret\n'));
    assert.deepEqual([answer.stdout, answer.status], ["got secret ä\n", 3]);
  });

  it("does nothing when it was truncated", () => {
    const script = `{\necho ran\n# ${"no ".repeat(2000)}${Math.PI}\nexit 0\n}\n`;
    const packed = packScript(script);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: packed.length - 30 }), (length) => {
        assert.equal(onMachine(packed.slice(0, length)).stdout, "");
      }),
      { numRuns: 20 },
    );
  });

  it("is the same text for the same script", () => {
    assert.equal(packScript("{\nexit 0\n}\n"), packScript("{\nexit 0\n}\n"));
  });
});
