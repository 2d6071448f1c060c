import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../../sandbox/paths";
import { GithubApi } from "../../simulation/github-api";

const KEY = "1".repeat(64);
const BOT = "github-actions[bot]";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const comment = (plan: string) =>
  `<!-- foresail:foresail/prod -->\nsteps\n\nPlan: SHA-256 \`${sha256(plan)}\``;

/** What an attacker can do who may push branches, and open and merge pull requests into branches other than main. */
describe("the plan that main applies", function () {
  this.timeout(60_000);
  let github: GithubApi;
  let folder: string;
  /** The files of each artifact, by run. */
  let stored: Map<number, { plan: string; seal: string }>;
  let head: string;

  beforeEach(async () => {
    github = await new GithubApi("example/clusters").start();
    stored = new Map();
    folder = mkdtempSync(path.join(tmpdir(), "foresail-binding-"));
    cpSync(path.join(projectFolder, "examples/github/foresail"), path.join(folder, ".github/foresail"), {
      recursive: true,
    });
    mkdirSync(path.join(folder, "stacks/config"), { recursive: true });
    writeFileSync(path.join(folder, ".gitignore"), "review\noutput\n");
    writeFileSync(path.join(folder, "stacks/config/Pulumi.prod.yaml"), "config: {}\n");
    git("init", "--quiet", "--initial-branch", "main");
    git("add", "--all");
    git("commit", "--quiet", "--message", "Begin");
    head = "a".repeat(40);
    github.pulls.push({
      ...{ number: 1, merged_at: "2026-01-01T00:00:00Z", merge_commit_sha: git("rev-parse", "HEAD") },
      ...{ base: { ref: "main" }, head: { sha: head } },
      files: [{ filename: "stacks/config/Pulumi.prod.yaml" }],
    });
    github.comment(BOT, comment("reviewed"));
  });
  afterEach(() => {
    github.stop();
    rmSync(folder, { recursive: true });
  });

  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@localhost", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
    }).trim();

  async function step(script: string, environment: Record<string, string>, ...args: string[]) {
    const output = path.join(folder, "output");
    writeFileSync(output, "");
    const child = spawn(process.execPath, [path.join(".github/foresail", script), ...args], {
      cwd: folder,
      env: {
        ...{ ...process.env, ...github.environment, STACK: "prod", OUT: "review", GITHUB_OUTPUT: output },
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const exitCode = await new Promise((resolve) => child.once("close", resolve));
    const lines = readFileSync(output, "utf8").split("\n").filter(Boolean);
    const outputs = Object.fromEntries(lines.map((line) => line.split("=", 2))) as Record<string, string>;
    return { exitCode, printed, outputs };
  }

  const write = (plan: string, seal: string) => {
    mkdirSync(path.join(folder, "review"), { recursive: true });
    writeFileSync(path.join(folder, "review/plan.json"), plan);
    writeFileSync(path.join(folder, "review/plan.seal"), seal);
  };
  const nameFor = (pull: number, sha: string) =>
    `foresail-plan-prod-${pull}-${sha}-${git("rev-parse", "HEAD^{tree}")}`;

  /** Seals a plan as a job of the preview does. */
  async function seal(plan: string, run: number, over: Record<string, string> = {}): Promise<string> {
    write(plan, "");
    const named = {
      PLAN_NAME: nameFor(1, head),
      PLAN_RUN_ID: String(run),
      PULL_REQUEST: "1",
      HEAD_SHA: head,
    };
    const { exitCode, printed } = await step(
      "plan-seal.mjs",
      { FORESAIL_PLAN_KEY: KEY, ...named, ...over },
      "write",
    );
    assert.equal(exitCode, 0, printed);
    return readFileSync(path.join(folder, "review/plan.seal"), "utf8");
  }

  /** Adds a run with a plan. */
  const run = (plan: string, sealed: string, over: object = {}, name = nameFor(1, head)) => {
    const id = github.addRun(head, name, over);
    stored.set(id, { plan, seal: sealed });
    return id;
  };

  /** Runs main's job up to the engine. @returns the plan that it would run, or why it refuses */
  async function applied(): Promise<{ plan?: string; refused?: string }> {
    const found = await step("find-plan.mjs", { GITHUB_SHA: git("rev-parse", "HEAD") });
    if (found.exitCode !== 0) return { refused: found.printed };
    const { outputs } = found;
    const artifact = stored.get(Number(outputs["run-id"]))!;
    write(artifact.plan, artifact.seal);
    const checked = await step(
      "plan-seal.mjs",
      {
        ...{ FORESAIL_PLAN_KEY: KEY, PLAN_NAME: outputs["plan-name"]!, PLAN_RUN_ID: outputs["run-id"]! },
        ...{ PULL_REQUEST: outputs["pull-request"]!, HEAD_SHA: outputs["head-sha"]! },
      },
      "check",
    );
    if (checked.exitCode !== 0) return { refused: checked.printed };
    if (sha256(artifact.plan) !== outputs["sha256"]) return { refused: "apply.sh compares the SHA-256" };
    return { plan: artifact.plan };
  }

  it("is that of main's preview of the merged pull request", async () => {
    run("reviewed", await seal("reviewed", 1));
    assert.deepEqual(await applied(), { plan: "reviewed" });
  });

  const forgedComment = () => (github.comments[0]!.body = comment("forged"));
  const other = { id: 99 };
  const attacks: Readonly<
    Record<string, { attack: () => Promise<unknown>; plan?: "reviewed"; why?: RegExp }>
  > = {
    "a run of a branch's own workflow for another base, with a rewritten comment": {
      attack: () => (forgedComment(), Promise.resolve(run("forged", "", { event: "pull_request" }))),
      why: /compares the SHA-256/,
    },
    "a run of a branch's own workflow, on a server that takes it from the base": {
      attack: () => (forgedComment(), Promise.resolve(run("forged", "f".repeat(64)))),
      why: /was not sealed by main's preview/,
    },
    "a seal with another key": {
      attack: async () => {
        forgedComment();
        run("forged", await seal("forged", 2, { FORESAIL_PLAN_KEY: "2".repeat(64) }));
      },
      why: /was not sealed/,
    },
    "the seal of another plan": {
      attack: async () => (forgedComment(), run("forged", await seal("reviewed", 2))),
      why: /was not sealed/,
    },
    "the sealed plan of another pull request with the same head": {
      attack: async () => {
        forgedComment();
        const own = { PULL_REQUEST: "2", PLAN_NAME: nameFor(2, head) };
        run("forged", await seal("forged", 2, own));
      },
      why: /was not sealed/,
    },
    "the sealed plan of an earlier head": {
      attack: async () => {
        forgedComment();
        const own = { HEAD_SHA: "0".repeat(40), PLAN_NAME: nameFor(1, "0".repeat(40)) };
        run("forged", await seal("forged", 2, own));
      },
      why: /was not sealed/,
    },
    "the sealed plan of another stack": {
      attack: async () => (forgedComment(), run("forged", await seal("forged", 2, { STACK: "dev" }))),
      why: /was not sealed/,
    },
    "the sealed plan of another repository": {
      attack: async () => (
        forgedComment(),
        run("forged", await seal("forged", 2, { GITHUB_REPOSITORY: "evil/clusters" }))
      ),
      why: /was not sealed/,
    },
    "a copy of a sealed plan in another run": {
      attack: async () => run("reviewed", await seal("reviewed", 1)),
      why: /was not sealed/,
    },
    "a comment that names another plan": {
      attack: () => Promise.resolve(forgedComment()),
      why: /compares the SHA-256/,
    },
    "an artifact of a fork whose branch has the name of the base": {
      attack: () => Promise.resolve(run("forged", "", { head_repository: other })),
      plan: "reviewed",
    },
    "an artifact of another workflow": {
      attack: () => Promise.resolve(run("forged", "", { path: ".github/workflows/other.yaml" })),
      plan: "reviewed",
    },
    "an artifact of the workflow as a branch has it": {
      attack: () =>
        Promise.resolve(
          run("forged", "", { path: ".github/workflows/foresail-preview.yaml@refs/heads/evil" }),
        ),
      plan: "reviewed",
    },
    "a re-run that has not ended": {
      attack: () => Promise.resolve(run("forged", "", { conclusion: null })),
      plan: "reviewed",
    },
    "a second pull request that became the same commit": {
      attack: () => Promise.resolve(github.pulls.push({ ...github.pulls[0]!, number: 2 })),
      why: /no merged pull request, or from several/,
    },
    "a pull request whose base was changed after its run": {
      attack: () => Promise.resolve(Object.assign(github.pulls[0]!, { base: { ref: "release" } })),
      why: /no merged pull request/,
    },
    "a head that was pushed by force after the run": {
      attack: () => Promise.resolve(Object.assign(github.pulls[0]!, { head: { sha: "c".repeat(40) } })),
      why: /No successful preview/,
    },
  };
  for (const [name, { attack, plan, why }] of Object.entries(attacks))
    it(`is not replaced by ${name}`, async () => {
      run("reviewed", await seal("reviewed", 1));
      await attack();
      const found = await applied();
      if (plan !== undefined) assert.deepEqual(found, { plan });
      else assert.match(found.refused ?? `applied ${found.plan}`, why!);
    });

  it("needs a key that no one can guess", async () => {
    for (const FORESAIL_PLAN_KEY of ["", "short"]) {
      write("reviewed", "");
      const named = { PLAN_NAME: "x", PLAN_RUN_ID: "1", PULL_REQUEST: "1", HEAD_SHA: head };
      const { exitCode, printed } = await step("plan-seal.mjs", { FORESAIL_PLAN_KEY, ...named }, "write");
      assert.equal(exitCode, 1);
      assert.match(printed, /FORESAIL_PLAN_KEY has to have at least 32 characters.*openssl rand/);
      assert.equal(printed.includes("short"), false);
    }
  });

  it("is previewed only for the head that was approved", () => {
    const files = path.join(folder, "pull-request");
    git("clone", "--quiet", "--local", ".", files);
    const inFiles = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
        cwd: files,
        encoding: "utf8",
      }).trim();
    inFiles("checkout", "--quiet", "-b", "feature");
    writeFileSync(path.join(files, "stacks/config/Pulumi.prod.yaml"), "config: {a: b}\n");
    inFiles("commit", "--quiet", "--all", "--message", "Change");
    const approved = inFiles("rev-parse", "HEAD");
    inFiles("checkout", "--quiet", "main");
    inFiles("merge", "--quiet", "--no-ff", "--message", "Merge", "feature");
    const take = (HEAD_SHA: string) =>
      execFileSync("bash", [".github/foresail/take-stack-files.sh"], {
        cwd: folder,
        encoding: "utf8",
        env: { ...process.env, FILES: files, HEAD_SHA },
      });
    assert.throws(
      () => take("0".repeat(40)),
      ({ stdout }: { stdout: string }) =>
        stdout.includes("The pull request has moved since this run started"),
    );
    assert.equal(git("status", "--porcelain", "--", "stacks"), "");
    take(approved);
    assert.match(git("status", "--porcelain", "--", "stacks"), /Pulumi\.prod\.yaml/);
  });
});
