import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "yaml";
import { ACTIONS } from "../../../cli/fleet/plan/export/github-steps";
import { projectFolder } from "../../../sandbox/paths";
import { leaveOut } from "../../left-out";
import { filesBelow } from "../docs/project";

interface Job {
  readonly permissions: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly needs?: string | readonly string[];
  readonly "timeout-minutes": number;
  readonly steps: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

const FILE = ".github/workflows/release.yaml";
const TEXT = readFileSync(path.join(projectFolder, FILE), "utf8");
const WORKFLOW = parse(TEXT) as { on: object; permissions: object; jobs: Readonly<Record<string, Job>> };
const { version, scripts } = JSON.parse(readFileSync(path.join(projectFolder, "package.json"), "utf8")) as {
  version: string;
  scripts: Record<string, string>;
};
const jobs = Object.entries(WORKFLOW.jobs);

/** What a package needs of the project's folder to be packed. */
const PACKED = [
  ...["package.json", "package-lock.json", ".npmrc", "CHANGELOG.md", "README.md", "LICENSE", "program.cjs"],
  ...["Containerfile", "scripts", "template", "policy", "docs", "providers", "bin"],
];
const NOT_PACKED = ["test", "bench", "sandbox", "scripts"].map((name) => path.join("bin", name));

/** npm without a network: nothing is compiled, and an archive's dependencies are those of this project. Programs can be run. */
const NPM = (real: string) => `#!/bin/bash
set -euo pipefail
echo "$*" >>"$CALLS"
case $1 in
  ci | run) ;;
  install)
    mkdir -p node_modules/.bin node_modules/foresail
    find ${projectFolder}/node_modules -mindepth 1 -maxdepth 1 ! -name foresail ! -name '.*' -exec ln -s {} node_modules/ ';'
    tar -xzf "$3" -C node_modules/foresail --strip-components=1
    ln -s ../foresail/bin/cli/cli.js node_modules/.bin/foresail
    chmod +x node_modules/.bin/foresail
    ;;
  *) exec ${real} "$@" ;;
esac
`;

describe("the workflow of a release", function () {
  this.timeout(120_000);

  it("begins with a tag of a version, and has no permission by default", () => {
    assert.deepEqual(WORKFLOW.on, { push: { tags: ["v*"] } });
    assert.deepEqual(WORKFLOW.permissions, {});
  });

  it("uses the actions, at the commits, that the other workflows use", () => {
    const lines = TEXT.match(/uses: .*/g)!;
    assert.ok(lines.length > 5);
    for (const line of lines) {
      const [, name = "", commit, named] = /^uses: ([\w/-]+)@(\w+) # (\S+)$/.exec(line) ?? [];
      assert.deepEqual(ACTIONS[name as keyof typeof ACTIONS], [commit, named], line);
    }
  });

  it("is right in the eyes of actionlint, as the examples are", function () {
    const { status, stdout, error } = spawnSync(
      "actionlint",
      ["-no-color", FILE, ...filesBelow("examples/github/workflows", ".yaml")],
      {
        cwd: projectFolder,
        encoding: "utf8",
      },
    );
    if (error !== undefined) leaveOut(this, "actionlint is not installed");
    assert.equal(status, 0, stdout);
  });

  it("gives each job no more than it needs", () => {
    const permissions = Object.fromEntries(jobs.map(([name, job]) => [name, job.permissions]));
    assert.deepEqual(permissions, {
      package: { contents: "read" },
      use: {},
      image: { packages: "write" },
      npm: { "id-token": "write" },
      notes: { contents: "write" },
    });
    // code of dependencies runs in the first two only: what they leave is all that the others read
    for (const [name, { steps }] of jobs.filter(([name]) => name !== "package"))
      assert.equal(JSON.stringify(steps).includes("actions/checkout"), false, name);
  });

  it("has a secret in one step, in the environment whose reviewers are asked", () => {
    assert.equal(TEXT.match(/secrets\./g)!.length, 1);
    const [name, { environment }] = jobs.find(([, job]) => JSON.stringify(job).includes("secrets."))!;
    assert.deepEqual([name, environment], ["npm", "release"]);
  });

  for (const [name, job] of jobs)
    it(`${name} puts no text of others into a command line, runs scripts that exist, and ends`, () => {
      assert.ok(job["timeout-minutes"] > 0);
      for (const { run = "" } of job.steps) {
        assert.equal(run.includes("${{"), false, run);
        for (const [, script = ""] of run.matchAll(/npm run ([\w:]+)/g)) assert.ok(scripts[script], script);
        for (const [script] of run.matchAll(/scripts\/[\w-]+\.cjs/g))
          assert.ok(existsSync(path.join(projectFolder, script)), script);
      }
    });

  it("publishes after everything that can be repeated, and each job waits for the one whose archive it takes", () => {
    const needs = Object.fromEntries(jobs.map(([name, job]) => [name, [job.needs ?? []].flat()]));
    assert.deepEqual(needs, {
      ...{ package: [], use: ["package"], image: ["package", "use"] },
      ...{ npm: ["package", "use", "image"], notes: ["package", "npm"] },
    });
  });

  describe("its steps", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "foresail-release-"));
    const checkout = path.join(folder, "checkout");
    const tools = path.join(folder, "tools");
    const output = path.join(folder, "output");
    const calls = path.join(folder, "calls");
    after(() => rmSync(folder, { recursive: true }));
    before(() => {
      for (const name of PACKED)
        cpSync(path.join(projectFolder, name), path.join(checkout, name), {
          recursive: true,
          filter: (file) => !NOT_PACKED.includes(path.relative(projectFolder, file)),
        });
      const git = (...args: string[]) => {
        const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
        execFileSync("git", [...identity, ...args], { cwd: checkout, stdio: "pipe", env: quietGit() });
      };
      git("init", "--quiet", "--initial-branch", "main");
      git("commit", "--quiet", "--allow-empty", "--message", "Release");
      git("update-ref", "refs/remotes/origin/main", "HEAD");
      mkdirSync(tools);
      const real = execFileSync("which", ["npm"], { encoding: "utf8" }).trim();
      writeFileSync(path.join(tools, "npm"), NPM(real));
      writeFileSync(path.join(tools, "gh"), '#!/bin/sh\necho "gh $*" >>"$CALLS"\n');
      const docker = `#!/bin/sh\necho "docker $*" >>"$CALLS"\nif [ "$1" = run ]; then echo "$VERSION"; fi\n`;
      writeFileSync(path.join(tools, "docker"), docker);
      for (const tool of ["npm", "gh", "docker"]) chmodSync(path.join(tools, tool), 0o700);
    });

    const quietGit = () => ({
      ...process.env,
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
    });

    /** Runs the commands of a job as a runner does. @returns what the step that failed printed */
    function run(name: string, cwd: string, environment: Record<string, string>): string | undefined {
      writeFileSync(calls, "");
      for (const { run = "" } of WORKFLOW.jobs[name]!.steps) {
        const { status, stdout, stderr } = spawnSync("bash", ["-e", "-o", "pipefail", "-c", run], {
          cwd,
          encoding: "utf8",
          env: {
            ...quietGit(),
            PATH: `${tools}:${process.env["PATH"]}`,
            CALLS: calls,
            GITHUB_OUTPUT: output,
            GITHUB_SERVER_URL: "https://git.example.org",
            GITHUB_REPOSITORY: "o/r",
            ...environment,
          },
        });
        if (status !== 0) return `${run}\n${stdout}${stderr}`;
      }
      return undefined;
    }
    const called = () => readFileSync(calls, "utf8").trim().split("\n");

    it("refuse a tag of another version before anything is packed", () => {
      const failed = run("package", checkout, { TAG: "v99.0.0" });
      assert.match(failed ?? "", /^node scripts\/release\.cjs check[^]*::error::package\.json has version/);
      assert.deepEqual(called(), [""]);
    });

    it("pack what installs and works in an empty folder, with the repository's addresses, notes and an SBOM", () => {
      assert.equal(run("package", checkout, { TAG: `v${version}` }), undefined);
      assert.match(readFileSync(output, "utf8"), new RegExp(`^version=${version}$`, "m"));
      const release = path.join(checkout, "release");
      assert.match(readFileSync(path.join(release, "notes.md"), "utf8"), /^[^[]*\n/);
      const sbom = JSON.parse(readFileSync(path.join(release, "sbom.cdx.json"), "utf8")) as {
        bomFormat: string;
        components: { name: string }[];
      };
      assert.equal(sbom.bomFormat, "CycloneDX");
      const names = sbom.components.map(({ name }) => name);
      assert.ok(names.includes("ssh2") && !names.includes("mocha"), names.join());

      const empty = path.join(folder, "empty");
      mkdirSync(empty);
      cpSync(release, path.join(empty, "release"), { recursive: true });
      assert.equal(run("use", empty, { VERSION: version }), undefined);
      const manifest = path.join(empty, "clusters/node_modules/foresail/package.json");
      const { repository } = JSON.parse(readFileSync(manifest, "utf8")) as { repository: { url: string } };
      assert.equal(repository.url, "git+https://git.example.org/o/r.git");
      const schema = readFileSync(
        path.join(path.dirname(manifest), "docs/configuration.schema.json"),
        "utf8",
      );
      const { $id } = JSON.parse(schema) as { $id: string };
      assert.equal($id, `https://git.example.org/o/r/raw/v${version}/docs/configuration.schema.json`);

      const tags = { VERSION: version, DIST_TAG: "next" };
      assert.equal(
        run("image", empty, { ...tags, GITHUB_REPOSITORY: "O/r", GITHUB_TOKEN: "token" }),
        undefined,
      );
      assert.match(
        called()[0]!,
        /^docker build --file release\/Containerfile .* --tag ghcr\.io\/o\/r:next release$/,
      );
      assert.deepEqual(
        called().slice(-2),
        [version, "next"].map((tag) => `docker push ghcr.io/o/r:${tag}`),
      );
      assert.ok(existsSync(path.join(empty, "release/Containerfile")));

      assert.equal(run("notes", empty, { TAG: `v${version}`, DIST_TAG: "next" }), undefined);
      assert.match(
        called()[0]!,
        /^gh release create v\S+ --repo o\/r .* --prerelease release\/foresail-\S+\.tgz /,
      );
    });

    it("release no commit that main does not have", () => {
      execFileSync("git", ["update-ref", "-d", "refs/remotes/origin/main"], { cwd: checkout });
      assert.match(run("package", checkout, { TAG: `v${version}` }) ?? "", /^git merge-base --is-ancestor/);
    });
  });
});
