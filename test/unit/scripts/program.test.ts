import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../../sandbox/paths";

describe("the program that Pulumi runs", () => {
  it("says in plain words that a clone is not compiled, and how to fix it", () => {
    const clone = mkdtempSync(path.join(tmpdir(), "foresail-uncompiled-"));
    try {
      const program = path.join("scripts", "program.cjs");
      cpSync(path.join(projectFolder, program), path.join(clone, program));
      symlinkSync(path.join(projectFolder, "node_modules"), path.join(clone, "node_modules"));
      const { status, stderr } = spawnSync(process.execPath, [path.join(clone, program)], {
        encoding: "utf8",
      });
      assert.notEqual(status, 0);
      assert.ok(
        stderr.includes(`foresail is not compiled; run \`npm ci && npm run build\` in ${clone}`),
        stderr,
      );
    } finally {
      rmSync(clone, { recursive: true });
    }
  });
});
