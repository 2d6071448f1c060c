import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { judgeEnding } from "../../mocha-process";
import { listTestFiles, NotCompiledError } from "../../test-files";

describe("the end of a test process", () => {
  const good = { passed: 2, failures: [], pending: [] };

  it("is a success with a result and exit code 0", () => {
    assert.deepEqual(judgeEnding("unit", good, "exit code 0"), { tier: "unit", result: good });
  });

  it("with failed tests is not a breakage on top of them", () => {
    const failed = { ...good, failures: [{ title: "a join", error: "Error: 1 !== 2" }] };
    assert.deepEqual(judgeEnding("unit", failed, "exit code 3"), { tier: "unit", result: failed });
  });

  const broken: [string, Parameters<typeof judgeEnding>, RegExp][] = [
    [
      "without a result is a crash",
      ["unit", undefined, "signal SIGSEGV"],
      /before its tests did \(signal SIGSEGV\)/,
    ],
    [
      "without a result is a crash even at exit code 0",
      ["unit", undefined, "exit code 0"],
      /before its tests did/,
    ],
    ["with a result but another exit code is a breakage", ["unit", good, "exit code 7"], /exit code 7/],
    ["by the runner's own kill says why", ["unit", good, "signal SIGKILL", "it hung"], /it hung/],
  ];
  for (const [name, given, words] of broken) {
    it(name, () => assert.match(judgeEnding(...given).breakage ?? "", words));
  }
});

describe("the list of test files", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-tests-"));
    for (const each of ["test/unit/deep", "bin/test/unit/deep"])
      mkdirSync(path.join(folder, each), { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string) => writeFileSync(path.join(folder, name), "");

  it("has a compiled file for each source, and none whose source is gone", () => {
    for (const name of ["test/unit/deep/a.test.ts", "bin/test/unit/deep/a.test.js"]) write(name);
    write("bin/test/unit/deleted.test.js");
    assert.deepEqual(listTestFiles(folder, ["unit"]), [path.join(folder, "bin/test/unit/deep/a.test.js")]);
  });

  it("refuses a source that is not compiled, and says how to fix it", () => {
    write("test/unit/new.test.ts");
    assert.throws(() => listTestFiles(folder, ["unit"]), NotCompiledError);
    assert.throws(
      () => listTestFiles(folder, ["unit"]),
      /test\/unit\/new\.test\.ts is not compiled; run: npm run build/,
    );
  });

  it("is empty for a missing folder", () => assert.deepEqual(listTestFiles(folder, ["e2e"]), []));
});
