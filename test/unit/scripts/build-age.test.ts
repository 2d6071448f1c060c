import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

const { isBuildOutdated } = createRequire(path.resolve("package.json"))("./scripts/build-age.cjs") as {
  isBuildOutdated: (root: string) => boolean;
};

describe("a launch builds first", () => {
  const [EARLIER, BUILT, LATER] = [1_000, 2_000, 3_000];
  let root: string;
  const write = (file: string, seconds: number, text = "") => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
    utimesSync(path.join(root, file), seconds, seconds);
  };

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "foresail-build-age-"));
    const configuration = readFileSync("tsconfig.json", "utf8");
    write("tsconfig.json", EARLIER, configuration);
    const { include } = JSON.parse(configuration) as { include: string[] };
    for (const name of include) write(name.endsWith(".ts") ? name : `${name}/deep/source.ts`, EARLIER);
    write("bin/tsconfig.tsbuildinfo", BUILT);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it("not when the build is newer than all sources", () => assert.equal(isBuildOutdated(root), false));

  it("when there is no build", () => {
    rmSync(path.join(root, "bin"), { recursive: true });
    assert.equal(isBuildOutdated(root), true);
  });

  const { include } = JSON.parse(readFileSync("tsconfig.json", "utf8")) as { include: string[] };
  for (const name of [...include, "tsconfig.json"])
    it(`when ${name} has changed`, () => {
      write(/\.[a-z]+$/.test(name) ? name : `${name}/deep/source.ts`, LATER, readOr(root, name));
      assert.equal(isBuildOutdated(root), true);
    });

  for (const other of ["lib/notes.md", "test/data.json", "sandbox/toolchain/modules/a.ts", "docs/a.ts"])
    it(`not when ${other} has changed, which is not a source`, () => {
      write(other, LATER);
      assert.equal(isBuildOutdated(root), false);
    });
});

/** Returns the text that a file must keep, because it is read. */
function readOr(root: string, name: string): string {
  return name === "tsconfig.json" ? readFileSync(path.join(root, name), "utf8") : "";
}
