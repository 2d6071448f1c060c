import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "yaml";
import { projectFolder } from "../../sandbox/paths";
import type { GithubApi } from "../simulation/github-api";
import type { TestStack } from "./test-stack";

/** The secret of the environments. */
const PLAN_KEY = { FORESAIL_PLAN_KEY: "0".repeat(64) };

/** What a finished step of the workflow printed, and its outputs for later steps. */
export interface StepAnswer {
  readonly exitCode: number;
  readonly printed: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/** The steps of the action that run a script. */
const ACTION = parse(readFileSync(path.join(projectFolder, "action.yml"), "utf8")) as {
  runs: { steps: readonly { run?: string; env?: Readonly<Record<string, string>> }[] };
};

/** A compiled clone under git, in which the steps of the action run as a runner would run them. */
export class WorkflowCheckout {
  /** Where the steps leave plan, preview and comment. */
  readonly out: string;
  /** The checkout of a pull request, as main will be after the merge. */
  readonly files: string;
  private readonly scratch = mkdtempSync(path.join(tmpdir(), "foresail-runner-"));

  constructor(
    private readonly stack: TestStack,
    private readonly github: GithubApi,
  ) {
    this.out = path.join(this.scratch, "review");
    this.files = path.join(this.scratch, "pull-request");
    const { folder } = stack.place;
    writeFileSync(path.join(folder, ".gitignore"), "node_modules\nbin\nbackend\nup.log\n");
    this.git("init", "--quiet", "--initial-branch", "main");
  }

  /** Runs git in the checkout of main, without a user's own settings. */
  git(...args: string[]): string {
    return this.gitIn(this.stack.place.folder, ...args);
  }

  private gitIn(cwd: string, ...args: string[]): string {
    const identity = [
      "-c",
      "user.name=test",
      "-c",
      "user.email=test@localhost",
      "-c",
      "commit.gpgsign=false",
    ];
    return execFileSync("git", [...identity, ...args], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  }

  commit(subject: string): void {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", subject);
  }

  /** Creates a branch of main with a commit, and switches back to main. @returns its head */
  branch(name: string, change: () => void): string {
    this.git("checkout", "--quiet", "-B", name, "main");
    change();
    this.commit(name);
    const head = this.git("rev-parse", "HEAD");
    this.git("checkout", "--quiet", "main");
    return head;
  }

  /** Checks a branch out as GitHub does for a pull request: merged into main. */
  checkOutPullRequest(branch: string): void {
    rmSync(this.files, { recursive: true, force: true });
    this.git("clone", "--quiet", "--local", ".", this.files);
    this.gitIn(this.files, "merge", "--quiet", "--no-ff", "--message", "Merge", `origin/${branch}`);
  }

  get planFile(): string {
    return path.join(this.out, "plan.json");
  }

  private stored(run: number): string {
    return path.join(this.scratch, `artifact-${run}`);
  }

  /** Runs the job of a pull request for a branch. @returns the step that refused it, or the preview */
  async previewJob(branch: string): Promise<StepAnswer> {
    this.checkOutPullRequest(branch);
    const head = this.git("rev-parse", branch);
    const environment = { FILES: this.files, PULL_REQUEST: "1", HEAD_SHA: head };
    const taken = await this.step("take-stack-files.sh", environment);
    if (taken.outputs["preview"] !== "true") return taken;
    const preview = await this.step("preview.sh", environment);
    const id = this.github.runs.length + 1;
    const name = preview.outputs["plan-name"]!;
    if (preview.exitCode === 0) {
      const sealed = { ...environment, ...PLAN_KEY, PLAN_NAME: name, PLAN_RUN_ID: String(id) };
      const seal = await this.start("plan-seal.mjs", sealed, "write").ended;
      assert.equal(seal.exitCode, 0, seal.printed);
    }
    const comment = await this.step("comment.mjs");
    assert.equal(comment.exitCode, 0, comment.printed);
    this.git("checkout", "--quiet", "--", ".");
    if (preview.exitCode === 0) {
      assert.equal(this.github.addRun(head, name), id);
      cpSync(this.out, this.stored(id), { recursive: true });
    }
    return preview;
  }

  /** Merges a branch by a squash, as pull request 1. */
  merge(branch: string): void {
    const files = this.git("diff", "--name-only", `main...${branch}`).split("\n");
    this.git("merge", "--quiet", "--squash", branch);
    this.commit(`Merge ${branch}`);
    this.github.pulls.push({
      number: 1,
      merged_at: "2026-01-01T00:00:00Z",
      merge_commit_sha: this.git("rev-parse", "HEAD"),
      base: { ref: "main" },
      head: { sha: this.git("rev-parse", branch) },
      files: files.map((filename) => ({ filename })),
    });
  }

  /** Runs the job of a push to main as far as the plan. */
  async fetchPlan(): Promise<StepAnswer> {
    rmSync(this.planFile, { force: true });
    const found = await this.step("find-plan.mjs", { GITHUB_SHA: this.git("rev-parse", "HEAD") });
    const run = found.outputs["run-id"];
    if (run === undefined) return found;
    for (const file of ["plan.json", "plan.seal"])
      cpSync(path.join(this.stored(Number(run)), file), path.join(this.out, file));
    const { outputs } = found;
    const named = { PLAN_NAME: outputs["plan-name"]!, PLAN_RUN_ID: run };
    const pull = { PULL_REQUEST: outputs["pull-request"]!, HEAD_SHA: outputs["head-sha"]! };
    const checked = await this.start("plan-seal.mjs", { ...PLAN_KEY, ...named, ...pull }, "check").ended;
    return checked.exitCode === 0 ? found : checked;
  }

  /**
   * Starts the action's step that runs a script, with the variables that the step sets and no others.
   * @param values of these variables; those that are left out have what the action's inputs give them
   */
  start(script: string, values: Record<string, string> = {}, command = "") {
    mkdirSync(this.out, { recursive: true });
    const outputFile = path.join(this.scratch, "github-output");
    writeFileSync(outputFile, "");
    const { folder, stack } = this.stack.place;
    const { run, env = {} } = ACTION.runs.steps.find(
      (each) => each.run?.includes(`/${script}`) && each.run.endsWith(command),
    )!;
    const known: Record<string, string> = { STACK: stack, OUT: this.out, PULL_REQUEST: "1", ...values };
    const { GITHUB_TOKEN, ...runner } = this.github.environment;
    const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", run!], {
      cwd: folder,
      env: {
        ...this.stack.environment,
        ...runner,
        RUNNER_TEMP: this.scratch,
        GITHUB_ACTION_PATH: projectFolder,
        GITHUB_OUTPUT: outputFile,
        FORESAIL: `${process.execPath} bin/cli/cli.js`,
        ...("GITHUB_SHA" in values && { GITHUB_SHA: values["GITHUB_SHA"] }),
        ...Object.fromEntries(
          Object.keys(env).flatMap((name) =>
            name === "GITHUB_TOKEN"
              ? [[name, GITHUB_TOKEN]]
              : known[name] === undefined
                ? []
                : [[name, known[name]]],
          ),
        ),
      },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const ended = new Promise<StepAnswer>((resolve) =>
      child.once("close", (code) => {
        this.stack.printed += printed;
        const lines = readFileSync(outputFile, "utf8").split("\n").filter(Boolean);
        const outputs = Object.fromEntries(
          lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
        );
        resolve({ exitCode: code ?? 128, printed, outputs });
      }),
    );
    return { child, ended };
  }

  /** Runs a script to its end, whatever that is. */
  step(script: string, environment?: Record<string, string>): Promise<StepAnswer> {
    return this.start(script, environment).ended;
  }

  remove(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }
}
