import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "../../../sandbox/paths";

const sample = (name: string) => path.join(projectFolder, "test/unit/cli/review/samples", name);

/** Runs `foresail report` where no engine can be found. */
function report(args: readonly string[], input = "") {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(projectFolder, "bin/cli/cli.js"), "report", ...args],
    { encoding: "utf8", input, env: { PATH: "/nowhere" }, cwd: projectFolder },
  );
  return { status, stdout, stderr };
}

describe("foresail report", function () {
  this.timeout(60_000);

  it("prints a comment from a file and from standard input alike, without an engine", () => {
    const fromFile = report(["--markdown", sample("scale.json")]);
    assert.equal(fromFile.status, 0, fromFile.stderr);
    assert.match(
      fromFile.stdout,
      /^<!-- foresail:foresail\/test -->\n### foresail: 2 steps in \d resources of `test`/,
    );
    const { stdout: long } = report(["--output", "markdown", sample("scale.json")]);
    assert.equal(long, fromFile.stdout);
    const fromInput = report(["--markdown", "-"], readFileSync(sample("scale.json"), "utf8"));
    assert.equal(fromInput.stdout, fromFile.stdout);
  });

  it("prints data for programs, without the inputs of resources", () => {
    const { stdout } = report(["--json", sample("scale.json")]);
    const { stack, changes, dangers } = JSON.parse(stdout) as Record<string, Record<string, unknown>[]>;
    assert.equal(stack, "test");
    assert.equal(dangers?.[0]?.kind, "deleted");
    assert.ok(changes?.every((change) => !("inputs" in change)));
  });

  it("names the given stack when the preview failed too early to name it", () => {
    const { stdout } = report(
      ["--markdown", "--stack", "prod", "-"],
      '{"diagnostics":[{"severity":"error","message":"no"}]}',
    );
    assert.match(stdout, /^<!-- foresail:foresail\/prod -->\n### foresail: the preview of `prod` failed/);
  });

  it("exits with 2 for a wrong command line and with 1 for an unreadable file", () => {
    const formless = report([sample("scale.json")]);
    assert.deepEqual(
      [formless.status, /give --output markdown or --output json/.test(formless.stderr)],
      [2, true],
    );
    const both = report(["--markdown", "--json", sample("scale.json")]);
    assert.equal(both.status, 2);
    const other = report(["--json", path.join(projectFolder, "package.json")]);
    assert.equal(other.status, 1);
    assert.match(other.stderr, /^foresail: this is not what "pulumi preview --json" prints/);
  });
});
