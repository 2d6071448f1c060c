import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../../sandbox/paths";

describe("the program that Pulumi runs", () => {
  it("says in plain words that a clone is not compiled, and how to fix it", () => {
    const clone = mkdtempSync(path.join(tmpdir(), "foresail-uncompiled-"));
    try {
      const program = "program.cjs";
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

  it("accepts the link to itself in a folder above, where `npm install` does not remove it, but none to another clone", () => {
    const above = mkdtempSync(path.join(tmpdir(), "foresail-linked-"));
    try {
      const clone = path.join(above, "source");
      const program = "program.cjs";
      cpSync(path.join(projectFolder, program), path.join(clone, program));
      for (const folder of ["bin", "bin/lib/pulumi", "node_modules/@pulumi/pulumi", "../node_modules"])
        mkdirSync(path.join(clone, folder), { recursive: true });
      const engine = "exports.RunError = class extends Error {};";
      writeFileSync(path.join(clone, "node_modules/@pulumi/pulumi/index.js"), engine);
      writeFileSync(path.join(clone, "bin", "index.js"), "");
      const folders = "exports.enterProject = () => undefined;";
      writeFileSync(path.join(clone, "bin/lib/pulumi/project-folder.js"), folders);
      writeFileSync(path.join(clone, "package-lock.json"), "{}");
      const run = () => spawnSync(process.execPath, [path.join(clone, program)], { encoding: "utf8" });
      const link = path.join(above, "node_modules", "foresail");
      assert.match(run().stderr, /foresail is not compiled/);
      symlinkSync(projectFolder, link);
      assert.match(run().stderr, /foresail is not compiled/);
      rmSync(link);
      symlinkSync(clone, link);
      assert.equal(run().stderr, "");
    } finally {
      rmSync(above, { recursive: true });
    }
  });
});
