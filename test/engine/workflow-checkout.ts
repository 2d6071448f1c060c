import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../sandbox/places";
import type { GithubApi } from "../simulation/github-api";
import type { TestStack } from "./test-stack";

/** What a finished step of the workflow printed, and what it gave to later steps. */
export interface StepAnswer {
  readonly exitCode: number;
  readonly printed: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/** A compiled clone under git, in which the steps of the example workflow run as a runner would run them. */
export class WorkflowCheckout {
  /** Where the steps leave plan, preview and comment. */
  readonly out: string;
  private readonly scratch = mkdtempSync(path.join(tmpdir(), "foresail-runner-"));

  constructor(
    private readonly stack: TestStack,
    private readonly github: GithubApi,
  ) {
    this.out = path.join(this.scratch, "review");
    const { folder } = stack.place;
    cpSync(path.join(projectFolder, "examples/github/foresail"), path.join(folder, ".github/foresail"), {
      recursive: true,
    });
    writeFileSync(path.join(folder, ".gitignore"), "node_modules\nbin\nbackend\nup.log\n");
    this.git("init", "--quiet", "--initial-branch", "main");
  }

  /** Runs git without anything of the person's own. */
  git(...args: string[]): string {
    const identity = [
      "-c",
      "user.name=test",
      "-c",
      "user.email=test@localhost",
      "-c",
      "commit.gpgsign=false",
    ];
    return execFileSync("git", [...identity, ...args], {
      cwd: this.stack.place.folder,
      encoding: "utf8",
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  }

  commit(subject: string): void {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", subject);
  }

  /** Starts a script of `.github/foresail` as one step. */
  start(script: string, environment: Record<string, string> = {}) {
    mkdirSync(this.out, { recursive: true });
    const outputFile = path.join(this.scratch, "github-output");
    writeFileSync(outputFile, "");
    const { folder, stack } = this.stack.place;
    const file = path.join(".github", "foresail", script);
    const child = spawn(script.endsWith(".mjs") ? process.execPath : "bash", [file], {
      cwd: folder,
      env: {
        ...this.stack.environment,
        ...this.github.environment,
        STACK: stack,
        OUT: this.out,
        PULL_REQUEST: "1",
        GITHUB_OUTPUT: outputFile,
        FORESAIL: `${process.execPath} bin/cli/cli.js`,
        ...environment,
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
