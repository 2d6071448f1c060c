import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../../sandbox/paths";

const forged = [{ name: "ssh2", version: "1.17.0" }];

describe("the check of package signatures", () => {
  for (const [what, printed, npmStatus, status, said] of [
    ["accepts valid ones", { invalid: [], missing: [] }, 0, 0, "every package has a valid one"],
    ["refuses a wrong one", { invalid: forged, missing: [] }, 1, 1, "wrong or missing for ssh2@1.17.0"],
    ["refuses a missing one", { invalid: [], missing: forged }, 1, 1, "wrong or missing for ssh2@1.17.0"],
    [
      "says that a registry has none, and does not fail",
      { error: { code: "ENOTFOUND", summary: "request to https://keys.example failed" } },
      1,
      0,
      "not checked: request to https://keys.example failed",
    ],
    ["says that npm failed in another way", "oops", 1, 0, "not checked: npm printed no JSON"],
  ] as const)
    it(what, () => {
      const folder = mkdtempSync(path.join(tmpdir(), "foresail-signatures-"));
      try {
        const text = typeof printed === "string" ? printed : JSON.stringify(printed);
        writeFileSync(path.join(folder, "npm"), `#!/bin/sh\necho '${text}'\nexit ${npmStatus}\n`);
        chmodSync(path.join(folder, "npm"), 0o755);
        const script = path.join(projectFolder, "scripts", "audit-signatures.cjs");
        const ended = spawnSync(process.execPath, [script], {
          encoding: "utf8",
          env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
        });
        assert.equal(ended.status, status);
        assert.ok((ended.stdout + ended.stderr).includes(said), ended.stdout + ended.stderr);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
});
