import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { runRemaining } from "../../../cli/engine/run-plan";
import { change } from "./review/changes";

const VIOLATION = "policy odd-control-planes: ClusterInit test-init: the cluster has 1 control planes";

describe("a later run of one up", () => {
  const before = process.env["PATH"];
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-later-"));
    const preview = JSON.stringify({ steps: [], diagnostics: [{ message: VIOLATION, severity: "error" }] });
    const program = path.join(folder, "pulumi");
    writeFileSync(
      program,
      `#!/bin/sh\necho "$@" >>${folder}/calls\nprintf %s "$LEVELS" >${folder}/levels\necho '${preview}'\nexit 1\n`,
    );
    chmodSync(program, 0o755);
    process.env["PATH"] = `${folder}:${before}`;
  });
  afterEach(() => {
    process.env["PATH"] = before;
    rmSync(folder, { recursive: true });
  });

  it("is previewed with the policies of the first one, and is not run when one refuses it", async () => {
    const policies = { args: ["--policy-pack", "/packs/mine"], environment: { LEVELS: "mine" } };
    const run = { project: { name: "foresail", folder }, stack: "prod", policies };
    const later = change("plan", [], { type: "CloudPlan", inputs: { later: ["then: w-2"] } });
    const said: string[] = [];
    const end = await runRemaining(run, { reviewed: [later] }, (line) => said.push(line));
    assert.equal(end, "failed", said.join("\n"));
    const calls = readFileSync(path.join(folder, "calls"), "utf8").trim().split("\n");
    assert.equal(calls.length, 1);
    assert.match(calls[0] ?? "", /^preview .*--stack prod --policy-pack \/packs\/mine /);
    assert.equal(readFileSync(path.join(folder, "levels"), "utf8"), "mine");
  });
});
