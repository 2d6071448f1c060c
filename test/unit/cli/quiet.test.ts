import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../../sandbox/paths";

/** Runs an engine that prints two lines and ends with a code, as a command would. */
function shown(folder: string, code: number, quiet: boolean): string {
  writeFileSync(path.join(folder, "pulumi"), `#!/bin/sh\necho progress\necho why >&2\nexit ${code}\n`, {
    mode: 0o755,
  });
  const compiled = path.join(projectFolder, "bin", "cli");
  const script = `
    require("${compiled}/terminal/terminal.js").setQuiet(${quiet});
    const { startPulumi } = require("${compiled}/engine/pulumi.js");
    const project = { folder: ${JSON.stringify(folder)}, name: "test" };
    startPulumi({ project, args: ["up"], passThrough: true }).ended.then(({ exitCode }) => console.log(exitCode));`;
  const PATH = `${folder}:${process.env["PATH"]}`;
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8", env: { PATH } });
  return stdout + stderr;
}

describe("the engine's output with --quiet", function () {
  this.timeout(30_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-quiet-"));
  after(() => rmSync(folder, { recursive: true }));

  const cases: [string, number, boolean, string][] = [
    ["is shown without it", 0, false, "progress\n0\nwhy\n"],
    ["is not shown when the engine succeeds", 0, true, "0\n"],
    ["is shown when the engine fails", 1, true, "progress\n1\nwhy\n"],
  ];
  for (const [name, code, quiet, expected] of cases)
    it(name, () => assert.equal(shown(folder, code, quiet), expected));
});
