import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { stringify } from "yaml";
import { type StackFiles, stackOfFile, touchedBy } from "../../../../cli/fleet/plan/changed";
import { projectFolder } from "../../../../sandbox/paths";

describe("the stacks that a change touches", () => {
  const files: StackFiles = {
    folder: "stacks/config",
    layerOf: { "prod-eu1": "prod", "prod-us1": "prod", "test-eu1": "test", lab: undefined },
  };
  const cases: readonly [what: string, paths: string[], stacks: string[], others: string[]][] = [
    ["nothing", [], [], []],
    ["a stack file", ["stacks/config/Pulumi.lab.yaml"], ["lab"], []],
    ["a layer", ["stacks/config/layers/prod.yaml"], ["prod-eu1", "prod-us1"], []],
    [
      "a layer and a file over it",
      ["stacks/config/layers/test.yaml", "stacks/config/Pulumi.test-eu1.yaml"],
      ["test-eu1"],
      [],
    ],
    ["a layer of no stack", ["stacks/config/layers/old.yaml"], [], []],
    ["a stack file that is gone", ["stacks/config/Pulumi.old.yaml"], [], []],
    ["a page", ["docs/regions.md"], [], []],
    ["the program", ["index.ts"], [], ["index.ts"]],
    [
      "files with similar names",
      ["Pulumi.lab.yaml", "stacks/config/x/Pulumi.lab.yaml"],
      [],
      ["Pulumi.lab.yaml", "stacks/config/x/Pulumi.lab.yaml"],
    ],
    [
      "a file below the layers",
      ["stacks/config/layers/x/prod.yaml"],
      [],
      ["stacks/config/layers/x/prod.yaml"],
    ],
  ];
  for (const [what, paths, stacks, others] of cases)
    it(`are known for ${what}`, () => assert.deepEqual(touchedBy(paths, files), { stacks, others }));

  it("are known without a folder for stack files", () => {
    const { stacks, others } = touchedBy(["Pulumi.yaml", "Pulumi.a.yaml"], {
      folder: "",
      layerOf: { a: undefined },
    });
    assert.deepEqual([stacks, others], [["a"], ["Pulumi.yaml"]]);
  });

  it("are all that a set of changes touches one by one, and no others", () => {
    const path = fc.constantFrom(
      ...Object.keys(files.layerOf).map((stack) => `stacks/config/Pulumi.${stack}.yaml`),
      ...["prod", "test"].map((layer) => `stacks/config/layers/${layer}.yaml`),
      "index.ts",
    );
    fc.assert(
      fc.property(fc.uniqueArray(path), (paths) => {
        const alone = new Set(paths.flatMap((one) => touchedBy([one], files).stacks));
        assert.deepEqual(new Set(touchedBy(paths, files).stacks), alone);
      }),
    );
  });

  it("have names of plain text only", () =>
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        assert.match(stackOfFile(`Pulumi.${name}.yaml`) ?? "none", /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/);
      }),
    ));
});

describe("foresail fleet changed", function () {
  this.timeout(60_000);
  let folder: string;
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@localhost", ...args], {
      cwd: folder,
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      stdio: "pipe",
    });
  const changed = (...args: string[]) => {
    const cli = path.join(projectFolder, "bin/cli/cli.js");
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "fleet", "changed", ...args], {
      cwd: folder,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  const write = (name: string, value: unknown) => writeFileSync(path.join(folder, name), stringify(value));

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-changed-"));
    mkdirSync(path.join(folder, "config/layers"), { recursive: true });
    write("Pulumi.yaml", { name: "foresail", stackConfigDir: "config" });
    write("config/layers/prod.yaml", { config: {} });
    for (const stack of ["eu1", "eu2", "us1"])
      write(`config/Pulumi.${stack}.yaml`, {
        config: { "foresail:layer": stack === "us1" ? undefined : "prod" },
      });
    write("fleet.yaml", {
      waves: [
        { name: "canary", stacks: ["us1"] },
        { name: "rest", stacks: ["eu*"] },
      ],
    });
    git("init", "--quiet", "--initial-branch", "main");
    git("add", "--all");
    git("commit", "--quiet", "--message", "Begin");
    git("checkout", "--quiet", "-b", "change");
  });
  after(() => rmSync(folder, { recursive: true }));

  it("prints nothing without a change", () =>
    assert.deepEqual(changed("--since", "main"), { status: 0, stdout: "", stderr: "" }));

  it("prints the stacks over a changed layer, new stacks, and a note about the program", () => {
    write("config/layers/prod.yaml", { config: { "foresail:system": "ssh" } });
    write("config/Pulumi.eu3.yaml", { config: {} });
    write("index.ts", "");
    git("add", "index.ts");
    const { status, stdout, stderr } = changed("--since", "main");
    assert.deepEqual([status, stdout], [0, "eu1\neu2\neu3\n"]);
    assert.match(stderr, /^note: these are not stack files, and may change every stack: index\.ts$/m);
  });

  it("compares with where the branch began, not with what others changed since", () => {
    git("stash", "--quiet", "--include-untracked");
    git("checkout", "--quiet", "main");
    write("config/Pulumi.us1.yaml", { config: { "foresail:system": "ssh" } });
    git("commit", "--quiet", "--all", "--message", "Change us1");
    git("checkout", "--quiet", "change");
    git("stash", "pop", "--quiet");
    assert.equal(changed("--since", "main").stdout, "eu1\neu2\neu3\n");
  });

  it("prints the stacks of each wave as JSON, for paths that it is given", () => {
    writeFileSync(path.join(folder, "paths.json"), '["config/Pulumi.us1.yaml", "index.ts"]');
    assert.deepEqual(JSON.parse(changed("--paths", "paths.json", "--json").stdout), {
      waves: { canary: ["us1"], rest: [] },
      others: ["index.ts"],
    });
  });

  it("refuses what is not a revision, such as an option of git, and paths that are not a list", () => {
    for (const revision of ["--output=x", "nowhere", ""]) {
      const { status, stderr } = changed(`--since=${revision}`);
      assert.equal(status, 2, stderr);
      assert.match(stderr, /is not a commit, branch or tag of this repository/);
    }
    assert.equal(changed("--paths", "fleet.yaml").status, 2);
    assert.equal(changed().status, 2);
  });
});
