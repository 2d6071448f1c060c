import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, it } from "mocha";
import { engineEnvironment, preloading } from "../../../sandbox/engine-environment";

describe("what the engine's node processes load first", () => {
  it("is loaded from a folder with spaces, quotes and backslashes, after the user's own options", () => {
    const folder = mkdtempSync(join(tmpdir(), 'fore "sail\\ '));
    try {
      const file = join(folder, "first.js");
      writeFileSync(file, 'globalThis.loaded = "yes";');
      const NODE_OPTIONS = preloading([file], "--no-warnings");
      const printed = execFileSync(process.execPath, ["-e", "console.log(loaded)"], {
        env: { ...process.env, NODE_OPTIONS },
        encoding: "utf8",
      });
      assert.equal(printed, "yes\n");
      assert.match(NODE_OPTIONS, /^--no-warnings /);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("keeps the compiler and the dependency resolver out of Pulumi's runtime, until a closure needs them", () => {
    const { NODE_OPTIONS } = engineEnvironment(process.env, {});
    const folder = mkdtempSync(join(tmpdir(), "foresail-closures-"));
    try {
      // a program in place of Pulumi's own, with the project's packages
      const programs = join(folder, "@pulumi", "pulumi", "cmd");
      mkdirSync(programs, { recursive: true });
      symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
      const program = join(programs, "probe.js");
      writeFileSync(
        program,
        `const pulumi = require("@pulumi/pulumi");
        const loaded = () => Object.keys(require.cache).filter((file) => /(typescript|arborist).lib.(typescript|arborist)/.test(file)).length;
        const before = loaded();
        pulumi.runtime.serializeFunction(() => 1).then(({ text }) => console.log(before, loaded() > 0, text.includes("return 1") || text.includes("=> 1")));`,
      );
      const printed = (environment: NodeJS.ProcessEnv) =>
        execFileSync(process.execPath, [program], { env: environment, encoding: "utf8" });
      assert.equal(printed({ ...process.env, NODE_OPTIONS }), "0 true true\n");
      // without it, both are loaded at once
      assert.match(printed({ ...process.env, NODE_OPTIONS: "" }), /^[1-9]\d* true true\n$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
