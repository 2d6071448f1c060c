import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

describe("npm run test:file", function () {
  this.timeout(60_000);
  const root = path.resolve(__dirname, "../../../..");
  // other tests and lint see no file that is only there for a moment
  const folder = mkdtempSync(path.join(root, "bin/edited-"));
  const source = path.join(folder, "edited.test.ts");
  const run = (...args: string[]) => {
    // a run of mocha inside of another one
    const { NODE_OPTIONS: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [path.join(root, "scripts/test-file.cjs"), ...args],
      { cwd: root, env, encoding: "utf8" },
    );
    return { status, printed: stdout + stderr };
  };
  /** Writes a test that compares two numbers, in TypeScript. */
  const edit = (value: number) =>
    writeFileSync(
      source,
      `it("is two", () => { const two: number = ${value}; if (two !== 2) throw new Error("not two"); });\n`,
    );

  after(() => {
    for (const each of [folder, path.join(root, "bin/bin")]) rmSync(each, { recursive: true, force: true });
  });

  it("runs a file as it is now, without a build", () => {
    edit(3);
    const failed = run(source);
    assert.deepEqual([failed.status, /not two/.test(failed.printed)], [1, true], failed.printed);
    edit(2);
    const passed = run(path.relative(root, source), "--grep", "is two");
    assert.deepEqual([passed.status, /1 passing/.test(passed.printed)], [0, true], passed.printed);
  });

  it("refuses what is not a test file, with an example", () => {
    assert.match(run("lib/wait.ts").printed, /no test file is named; run for example/);
    assert.deepEqual(run("test/unit/none.test.ts"), {
      status: 2,
      printed: "foresail: test/unit/none.test.ts does not exist\n",
    });
  });
});
