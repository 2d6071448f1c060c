import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";

const FORESAIL = require.resolve("../../../../index");
const PULUMI = path.dirname(require.resolve("@pulumi/pulumi/package.json"));
/** As Pulumi runs the program: an exception in an apply, printed in color. */
const PROGRAM = `
  const { createRequire } = require("node:module");
  createRequire(require.resolve("@pulumi/pulumi"))("source-map-support/register");
  const { defaultErrorMessage } = require(${JSON.stringify(path.join(PULUMI, "cmd/run/error.js"))});
  process.on("unhandledRejection", (error) => {
    console.log("unhandled exception: " + defaultErrorMessage(error));
    process.exit(0);
  });
  require(${JSON.stringify(FORESAIL)});
  require("@pulumi/pulumi").output(1).apply(() => { throw new TypeError("thrown in an apply\\u001b[2J"); });
`;

describe("an exception in an apply", () => {
  const run = (environment: NodeJS.ProcessEnv = {}) =>
    spawnSync(process.execPath, ["-e", PROGRAM], {
      cwd: __dirname,
      encoding: "utf8",
      timeout: 18_000,
      killSignal: "SIGKILL",
      env: { ...process.env, ...environment },
    });

  it("is printed at once, as its message alone", () => {
    const { stdout, stderr } = run();
    assert.deepEqual([stdout, stderr], ["unhandled exception: thrown in an apply\n", ""]);
  });

  it("is printed with its stack trace on request", () => {
    assert.match(
      run({ NODE_DEBUG: "foresail" }).stderr,
      /FORESAIL \d+: TypeError: thrown in an apply\n +at /,
    );
  });
});
