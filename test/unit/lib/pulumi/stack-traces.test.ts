import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { placeInPackages } from "../../../../lib/pulumi/stack-traces";

const FORESAIL = require.resolve("../../../../index");
/** As Pulumi runs the program: an exception in an apply, printed in color. */
const PROGRAM = `
  const { createRequire } = require("node:module");
  createRequire(require.resolve("@pulumi/pulumi"))("source-map-support/register");
  require(${JSON.stringify(FORESAIL)});
  process.on("unhandledRejection", (error) => {
    console.log(require("node:util").inspect(error, { colors: true }));
    process.exit(0);
  });
  require("@pulumi/pulumi").output(1).apply(() => { throw new TypeError("thrown in an apply"); });
`;

describe("A stack trace", () => {
  const rows: [string, string, string][] = [
    ["a file in a scope", "/p/node_modules/@pulumi/output.ts:1:2", "/p/node_modules/@pulumi/./output.ts:1:2"],
    ["a file in no package", "(/p/node_modules/foo.js:1:2)", "(/p/node_modules/./foo.js:1:2)"],
    ["a file of a package", "/p/node_modules/foo/bar.js:1:2", "/p/node_modules/foo/bar.js:1:2"],
    ["a file of a scope's package", "/p/node_modules/@a/b/c.js:1:2", "/p/node_modules/@a/b/c.js:1:2"],
    [
      "the inner of two packages",
      "/p/node_modules/a/node_modules/b.js:1",
      "/p/node_modules/a/node_modules/./b.js:1",
    ],
  ];
  for (const [what, frame, expected] of rows)
    it(`names ${what} so that node can print it`, () => {
      const trace = (each: string) => `Error: wrong\n    at f ${each}\n    at node:internal/main:1:1`;
      assert.equal(placeInPackages(trace(frame)), trace(expected));
      assert.equal(placeInPackages(trace(expected)), trace(expected));
    });

  it("of an exception in an apply is printed at once", () => {
    const printed = execFileSync(process.execPath, ["-e", PROGRAM], {
      cwd: __dirname,
      encoding: "utf8",
      timeout: 18_000,
      killSignal: "SIGKILL",
    });
    assert.match(printed, /TypeError: thrown in an apply/);
    assert.match(stripVTControlCharacters(printed), /node_modules\/@pulumi\/\.\/output\.ts/);
  });
});
