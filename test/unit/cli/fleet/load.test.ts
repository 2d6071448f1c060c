import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import { projectFolder } from "../../../../sandbox/paths";

describe("the stacks of a fleet", function () {
  this.timeout(60_000);
  let folder: string;
  const write = (name: string, value: unknown) => writeFileSync(path.join(folder, name), stringify(value));
  /** Runs a command that finds no engine. */
  const status = (backend: string, ...args: string[]) => {
    const cli = path.join(projectFolder, "bin/cli/cli.js");
    const { stdout, stderr } = spawnSync(process.execPath, [cli, "fleet", "status", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: "/bin:/usr/bin", HOME: folder, PULUMI_BACKEND_URL: backend },
    });
    return (stdout + stderr).trim();
  };

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-load-"));
    write("Pulumi.yaml", { name: "foresail" });
    for (const stack of ["eu1", "us1"]) write(`Pulumi.${stack}.yaml`, {});
    const states = path.join(folder, "backend/.pulumi/stacks/foresail");
    mkdirSync(states, { recursive: true });
    // what it contains does not matter: no state is read
    for (const name of ["eu1.json", "eu1.json.bak", "eu1.json.attrs", "us1.json.gz"])
      writeFileSync(path.join(states, name), "not read");
    write("fleet.yaml", { waves: [{ name: "all", stacks: ["*"] }] });
    write("other.yaml", { waves: [{ name: "all", stacks: ["eu2"] }] });
  });
  after(() => rmSync(folder, { recursive: true }));

  it("are found in a folder without the engine and without reading their states", () => {
    const backend = pathToFileURL(path.join(folder, "backend")).href;
    assert.equal(status(backend), "there was no run of this fleet");
    assert.match(
      status(backend, "--file", "other.yaml"),
      /^foresail: other\.yaml has 1 validation issue; [^]*: there is no stack "eu2"; did you mean "eu1"\?$/,
    );
  });

  it("are found by their files for the status of a fleet in a bucket or a database", () => {
    for (const backend of ["s3://bucket?region=eu", "postgres://user@localhost/state"])
      assert.equal(status(backend), "there was no run of this fleet");
  });

  it("are asked of the engine where nothing else knows them", () => {
    const backend = pathToFileURL(path.join(folder, "empty")).href;
    assert.match(status(backend), /pulumi is not on the PATH/);
  });
});
