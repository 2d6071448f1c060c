import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

describe("npm run test:file", function () {
  this.timeout(60_000);
  const script = path.resolve(__dirname, "../../../../scripts/test-file.cjs");
  let root: string;
  const within = (name: string) => path.join(root, name);
  /** Writes a file of the project. */
  const write = (name: string, text = "") => {
    mkdirSync(path.dirname(within(name)), { recursive: true });
    writeFileSync(within(name), text);
  };
  const BUILT = "bin/tsconfig.tsbuildinfo";

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "foresail-test-file-"));
    const compilerOptions = { module: "nodenext", sourceMap: true, outDir: "bin", types: [] };
    write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["lib", "test"] }));
    write("bin/index.js");
    write(BUILT);
    write(
      "test/two.test.ts",
      'import { two } from "../lib/two";\nit("is two", () => { if (two !== 2) throw new Error("not two"); });\n',
    );
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const edit = (value: number) => write("lib/two.ts", `export const two: number = ${value};\n`);
  const run = (...args: string[]) => {
    // a run of mocha inside of another one
    const { NODE_OPTIONS: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
      cwd: root,
      env,
      encoding: "utf8",
    });
    return { status, printed: stdout + stderr };
  };

  it("runs a file as it is now, without a build", () => {
    edit(3);
    const failed = run(within("test/two.test.ts"));
    assert.deepEqual([failed.status, /not two/.test(failed.printed)], [1, true], failed.printed);
    edit(2);
    const passed = run("test/two.test.ts", "--grep", "is two");
    assert.deepEqual([passed.status, /1 passing/.test(passed.printed)], [0, true], passed.printed);
  });

  it("lets the next build compile all, if it has translated anything", () => {
    edit(2);
    run("test/two.test.ts");
    assert.equal(existsSync(within(BUILT)), false);
    write(BUILT);
    run("test/two.test.ts");
    assert.equal(existsSync(within(BUILT)), true);
  });

  it("refuses what is not a test file, with an example", () => {
    assert.match(run("lib/two.ts").printed, /no test file is named; run for example/);
    assert.deepEqual(run("test/unit/none.test.ts"), {
      status: 2,
      printed: "foresail: test/unit/none.test.ts does not exist\n",
    });
    rmSync(within("bin"), { recursive: true });
    assert.match(run("test/two.test.ts").printed, /nothing is built yet/);
  });
});
