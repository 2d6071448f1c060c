import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { EXIT } from "../../cli/terminal/exit-codes";
import { projectFolder } from "../../sandbox/paths";
import { engineToolchain } from "./simulated-fixture";
import { TestStack } from "./test-stack";

describe("foresail without what the engine needs", function () {
  this.timeout(120_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-errors-"));
  let stack: TestStack;

  before(async function () {
    // the programs may have to be built first
    this.timeout(1_800_000);
    writeFileSync(path.join(folder, "Pulumi.yaml"), "name: foresail\nruntime: nodejs\n");
    stack = new TestStack({ folder, project: "foresail", stack: "test" }, await engineToolchain());
    await stack.create();
    await stack.setSecret("sshPrivateKey", "a secret");
  });
  after(() => rmSync(folder, { recursive: true }));

  function foresail(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    const cli = path.join(projectFolder, "bin/cli/cli.js");
    const env = { ...stack.environment, ...environment };
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
      encoding: "utf8",
      cwd: folder,
      env,
    });
    assert.doesNotMatch(stdout + stderr, /^\s+at |secrets manager|exit code|ENOENT|^error:/m);
    return { status, stderr };
  }
  const PREVIEW = ["preview", "--stack", "test"];
  const cases: [string, string[], NodeJS.ProcessEnv, RegExp][] = [
    [
      "a wrong passphrase",
      PREVIEW,
      { PULUMI_CONFIG_PASSPHRASE: "wrong" },
      /^foresail: the passphrase is wrong: .*Set PULUMI_CONFIG_PASSPHRASE, or the file of/,
    ],
    [
      "no passphrase",
      ["up", "--stack", "test", "--yes"],
      { PULUMI_CONFIG_PASSPHRASE: undefined },
      /^foresail: the stack has no passphrase .*Set PULUMI_CONFIG_PASSPHRASE to it, or/,
    ],
    [
      "a missing file with the passphrase",
      PREVIEW,
      { PULUMI_CONFIG_PASSPHRASE: undefined, PULUMI_CONFIG_PASSPHRASE_FILE: "/nowhere/passphrase" },
      /^foresail: the file of PULUMI_CONFIG_PASSPHRASE_FILE, \/nowhere\/passphrase, can't be read/,
    ],
    [
      "no login",
      PREVIEW,
      {
        PULUMI_BACKEND_URL: undefined,
        PULUMI_HOME: path.join(folder, "home"),
        PULUMI_ACCESS_TOKEN: undefined,
      },
      /^foresail: no backend is logged in to.*`pulumi login file:\/\/FOLDER`/,
    ],
    [
      "a stack that does not exist",
      ["monitor", "--stack", "nope"],
      {},
      /^foresail: there is no stack nope in this backend\. `pulumi stack ls` lists the stacks/,
    ],
    [
      "a plan that does not exist",
      ["up", "--stack", "test", "--plan", "/nowhere/plan.json"],
      {},
      /^foresail: can't read the plan \/nowhere\/plan\.json: there is no such file or folder; give the file that `foresail preview --save-plan` wrote\n$/,
    ],
    [
      "a stack to unlock that does not exist",
      ["unlock", "--stack", "nope"],
      {},
      /^foresail: the project foresail has no stack nope in .*; it has test\. Give --stack and --project/,
    ],
  ];
  for (const [what, args, environment, expected] of cases)
    it(`says in one line what to do about ${what}`, () => {
      const { status, stderr } = foresail(args, environment);
      assert.match(stderr, expected);
      assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
      assert.equal(status, EXIT.failed);
    });

  it("unlocks a stack that exists and is not locked", () => {
    assert.equal(foresail(["unlock", "--stack", "test"]).status, EXIT.done);
  });
});
