import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "mocha";
import { engineEnvironment, preloading } from "../../../sandbox/engine-environment";

describe("what the engine's node processes load first", () => {
  it("is loaded from a folder with spaces, quotes and backslashes, after the person's own options", () => {
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
    const script = `
      const pulumi = require("@pulumi/pulumi");
      const loaded = () => Object.keys(require.cache).filter((file) => /node_modules.(typescript|@npmcli.arborist)./.test(file)).length;
      const before = loaded();
      pulumi.runtime.serializeFunction(() => 1).then(({ text }) => console.log(before, loaded() > 0, text.includes("return 1") || text.includes("=> 1")));`;
    const printed = execFileSync(process.execPath, ["-e", script], {
      env: { ...process.env, NODE_OPTIONS },
      encoding: "utf8",
    });
    assert.equal(printed, "0 true true\n");
  });
});
