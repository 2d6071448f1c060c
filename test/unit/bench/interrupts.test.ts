import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { descendants, untilEnded } from "../../support/process-tree";

const MODULE = path.resolve(__dirname, "../../../bench/interrupts.js");
/** Work that waits for a program, and would create something after it. */
const PROGRAM = `
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const { rmSync, writeFileSync } = require("node:fs");
const { removedAfter } = require(${JSON.stringify(MODULE)});
const container = process.argv[1];
removedAfter(
  async () => rmSync(container),
  async () => {
    writeFileSync(container, "");
    const program = spawn("sleep", ["600"], { stdio: "ignore" });
    await once(program, "spawn");
    console.log("works");
    const [code] = await once(program, "exit");
    if (code !== 0) throw new Error("the program failed");
  },
).catch((error) => {
  console.error(error.message);
  process.exit(error.name === "Interrupted" ? 42 : 1);
});
`;

describe("an interrupted benchmark", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-interrupts-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    it(`ends its programs and removes what it created: ${signal}`, async () => {
      const container = path.join(folder, signal);
      const child = spawn(process.execPath, ["-e", PROGRAM, container], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      let words = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (words += text));
      const ended = once(child, "exit");
      await once(child.stdout, "data");
      const programs = descendants(child.pid ?? 0);
      assert.equal(programs.length, 1);
      assert.ok(existsSync(container));
      child.kill(signal);
      assert.deepEqual(await ended, [42, null], words);
      assert.equal(existsSync(container), false);
      await untilEnded(programs, 5);
    });
});
