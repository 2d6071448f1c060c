import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../../sandbox/paths";

/** Without the settings that `npm run` gives its programs. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_config_ignore_scripts$/i.test(name)),
);

/** Installs a package that writes a file from a script of its own. @returns whether the file is there */
function installHostile(withSettings: boolean): boolean {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-install-"));
  try {
    const proof = path.join(folder, "proof");
    const scripts = { postinstall: `node -e 'require("fs").writeFileSync(${JSON.stringify(proof)}, "")'` };
    mkdirSync(path.join(folder, "hostile"));
    const write = (file: string, content: object) =>
      writeFileSync(path.join(folder, file), JSON.stringify(content));
    write("hostile/package.json", { name: "hostile", version: "1.0.0", scripts });
    write("package.json", { name: "clone", version: "1.0.0", dependencies: { hostile: "file:hostile" } });
    if (withSettings) cpSync(path.join(projectFolder, ".npmrc"), path.join(folder, ".npmrc"));
    const args = ["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", args, { cwd: folder, env: environment, stdio: "ignore" });
    return existsSync(proof);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("an installation of the dependencies", () => {
  it("runs no script of a package, which npm would do otherwise", () => {
    assert.equal(installHostile(true), false);
    assert.equal(installHostile(false), true);
  });

  it("needs no script of this project: none would run", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(projectFolder, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    assert.deepEqual(
      Object.keys(scripts).filter((name) => /^(pre|post)|^(install|dependencies)$/.test(name)),
      [],
    );
  });
});
