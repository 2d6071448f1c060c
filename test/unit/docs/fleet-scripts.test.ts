import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
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
import { stringify } from "yaml";
import { projectFolder } from "../../../sandbox/paths";
import { GithubApi } from "../../simulation/github-api";
import { GitlabApi } from "../../simulation/gitlab-api";

const FORESAIL = `${process.execPath} ${path.join(projectFolder, "bin/cli/cli.js")}`;

/** Writes its arguments, prints what the file `answer` has, and ends with the exit code in `code`. */
const STAND_IN =
  '#!/bin/sh\necho "$*" >>"$0.calls"\ncat "$0.answer" 2>/dev/null\nexit "$(cat "$0.code" 2>/dev/null || echo 0)"\n';

describe("the scripts of a fleet's workflows", function () {
  this.timeout(60_000);
  const github = new GithubApi("example/clusters");
  let folder: string;
  let standIn: string;

  before(async () => {
    await github.start();
    folder = mkdtempSync(path.join(tmpdir(), "foresail-workflows-"));
    cpSync(path.join(projectFolder, "examples/github/foresail"), path.join(folder, ".github/foresail"), {
      recursive: true,
    });
    mkdirSync(path.join(folder, "stacks/config/layers"), { recursive: true });
    const write = (name: string, value: unknown) => writeFileSync(path.join(folder, name), stringify(value));
    write("Pulumi.yaml", { name: "foresail", stackConfigDir: "stacks/config" });
    write("fleet.yaml", {
      waves: [
        { name: "canary", stacks: ["prod-eu1"] },
        { name: "rest", stacks: ["prod-*"] },
      ],
    });
    write("stacks/config/layers/prod.yaml", { config: {} });
    for (const region of ["eu1", "eu2", "us1"])
      write(`stacks/config/Pulumi.prod-${region}.yaml`, {
        config: region === "us1" ? {} : { "foresail:layer": "prod" },
      });
    git("init", "--quiet", "--initial-branch", "main");
    git("add", "--all");
    git("commit", "--quiet", "--message", "Begin");
    standIn = path.join(folder, "stand-in");
    writeFileSync(standIn, STAND_IN);
    chmodSync(standIn, 0o700);
  });
  after(() => {
    github.stop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() =>
    ["calls", "answer", "code"].forEach((end) => rmSync(`${standIn}.${end}`, { force: true })),
  );

  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@localhost", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      stdio: "pipe",
    }).trim();
  const calls = () =>
    existsSync(`${standIn}.calls`) ? readFileSync(`${standIn}.calls`, "utf8").trim().split("\n") : [];

  /** Runs a script as one step. */
  async function step(script: string, environment: Record<string, string>, ...args: string[]) {
    const outputFile = path.join(folder, "github-output");
    writeFileSync(outputFile, "");
    const command = script.endsWith(".mjs") ? process.execPath : "bash";
    const child = spawn(command, [path.join(".github/foresail", script), ...args], {
      cwd: folder,
      env: {
        ...process.env,
        ...github.environment,
        GITHUB_OUTPUT: outputFile,
        FORESAIL: standIn,
        STACK: "prod-eu1",
        OUT: "review",
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const exitCode = await new Promise<number>((resolve) =>
      child.once("close", (code) => resolve(code ?? 128)),
    );
    const lines = readFileSync(outputFile, "utf8").split("\n").filter(Boolean);
    return {
      exitCode,
      printed,
      outputs: Object.fromEntries(lines.map((line) => line.split("=", 2))) as object,
    };
  }

  it("find the stacks that the files of a branch touch, by wave", async () => {
    writeFileSync(path.join(folder, "stacks/config/layers/prod.yaml"), "config: {}\n# changed\n");
    writeFileSync(path.join(folder, "stacks/config/Pulumi.prod-eu3.yaml"), "config: {}\n");
    const { exitCode, printed, outputs } = await step("changed-stacks.mjs", { FORESAIL }, "branch");
    git("checkout", "--quiet", ".");
    rmSync(path.join(folder, "stacks/config/Pulumi.prod-eu3.yaml"));
    assert.equal(exitCode, 0, printed);
    assert.deepEqual(outputs, {
      stacks: '["prod-eu1","prod-eu2","prod-eu3"]',
      "wave-canary": '["prod-eu1"]',
      "wave-rest": '["prod-eu2","prod-eu3"]',
    });
  });

  it("find the stacks that a merged pull request touched, in both places of a renamed file", async () => {
    const head = git("rev-parse", "HEAD");
    github.pulls.push({
      ...{ number: 4, merged_at: "2026-01-01T00:00:00Z", merge_commit_sha: head, base: { ref: "main" } },
      head: { sha: head },
      files: [{ filename: "docs/a.md", previous_filename: "stacks/config/Pulumi.prod-us1.yaml" }],
    });
    const { outputs } = await step("changed-stacks.mjs", { FORESAIL, GITHUB_SHA: head }, "merge");
    assert.deepEqual(outputs, { stacks: '["prod-us1"]', "wave-canary": "[]", "wave-rest": '["prod-us1"]' });
  });

  it("make one comment of all previews, with a failed one, and find each reviewed plan by it", async () => {
    const left = path.join(folder, "reviews/review-prod-eu1");
    mkdirSync(left, { recursive: true });
    writeFileSync(path.join(left, "preview.json"), '{"changeSummary": {"same": 3}}');
    writeFileSync(path.join(left, "plan.json"), "{}");
    const sha256 = createHash("sha256").update("{}").digest("hex");
    const environment = {
      ...{ FORESAIL, REVIEWS: "reviews", OUT: "fleet-review", PULL_REQUEST: "4" },
      STACKS: '["prod-eu1","prod-eu2"]',
    };
    for (let run = 0; run < 2; run += 1)
      for (const script of ["fleet-comment.sh", "comment.mjs"]) {
        const { exitCode, printed } = await step(script, environment);
        assert.equal(exitCode, 0, printed);
      }
    assert.equal(github.comments.length, 1);
    const [comment] = github.comments;
    assert.match(
      comment!.body,
      /^<!-- foresail:fleet\/foresail\/foresail -->\n### foresail: the preview of 1 of 2 stacks failed\n/,
    );
    assert.match(comment!.body, /in `prod-eu2`: `its preview job left no result; its log says why`/);
    assert.ok(comment!.body.endsWith(`\n<!-- foresail-plans: prod-eu1=${sha256} -->`), comment!.body);
    assert.match(readFileSync(path.join(folder, "fleet-review/page.html"), "utf8"), /prod-eu1/);

    const head = git("rev-parse", "HEAD");
    const ends = `4-${head}-${git("rev-parse", "HEAD^{tree}")}`;
    github.addRun(head, `foresail-plan-prod-eu1-${ends}`);
    github.addRun(head, `foresail-plan-prod-eu2-${ends}`);
    github.runs[0]!.artifacts.push(...github.runs[1]!.artifacts);
    github.runs.pop();
    const find = (STACK: string) =>
      step("find-plan.mjs", { GITHUB_SHA: head, COMMENT: "fleet", STACK, STACK_FILES: "stacks/config" });
    const found = await find("prod-eu1");
    assert.equal(found.exitCode, 0, found.printed);
    assert.deepEqual(found.outputs, {
      ...{ "plan-name": github.runs[0]!.artifacts[0]!.name, "run-id": "1", sha256 },
      ...{ "pull-request": "4", "head-sha": head },
    });
    const refused = await find("prod-eu2");
    assert.deepEqual([refused.exitCode, refused.outputs], [1, {}]);
    comment!.body += "\nand more";
    assert.equal((await find("prod-eu1")).exitCode, 1);
  });

  it("refuse a commit that comes from no pull request, and write no output", async () => {
    const { exitCode, printed, outputs } = await step(
      "changed-stacks.mjs",
      { FORESAIL, GITHUB_SHA: "0".repeat(40) },
      "merge",
    );
    assert.deepEqual([exitCode, outputs], [1, {}]);
    assert.match(printed, /::error::Commit 0+ of main comes from no merged pull request/);
  });

  it("list all stacks for the night", async () => {
    const { outputs } = await step("changed-stacks.mjs", { FORESAIL }, "all");
    assert.deepEqual(outputs, {
      stacks: '["prod-eu1","prod-eu2","prod-us1"]',
      "wave-canary": '["prod-eu1"]',
      "wave-rest": '["prod-eu2","prod-us1"]',
    });
  });

  it("apply a plan in the window of its wave only", async () => {
    mkdirSync(path.join(folder, "review"), { recursive: true });
    writeFileSync(path.join(folder, "review/plan.json"), "{}");
    const PLAN_SHA256 = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    assert.equal((await step("apply.sh", { WAVE: "rest", PLAN_SHA256 })).exitCode, 0);
    assert.deepEqual(calls(), [
      "fleet window --wave rest --stack prod-eu1",
      "up --stack prod-eu1 --plan review/plan.json",
    ]);
    writeFileSync(`${standIn}.code`, "4");
    assert.equal((await step("apply.sh", { WAVE: "rest", PLAN_SHA256 })).exitCode, 4);
    assert.deepEqual(calls().slice(2), ["fleet window --wave rest --stack prod-eu1"]);
  });

  const drift = async (machines: unknown, code: number, environment: Record<string, string> = {}) => {
    writeFileSync(`${standIn}.answer`, JSON.stringify({ machines }));
    writeFileSync(`${standIn}.code`, String(code));
    const found = await step("drift.sh", environment);
    return found.exitCode === 0 ? step("drift-issue.mjs", environment) : found;
  };
  const changed = (...paths: string[]) => [
    {
      node: "w-1",
      files: paths.map((file) => ({ path: file, difference: "changed", diff: "-secret of the file" })),
    },
    { node: "w-2" },
  ];

  it("open one issue for drift, update it, and close it afterwards", async () => {
    github.issue("someone", "theirs", "<!-- foresail-drift:prod-eu1 -->");
    github.issue("github-actions[bot]", "a pull request", "<!-- foresail-drift:prod-eu1 -->", {
      pull_request: {},
    });
    assert.equal((await drift(changed(), 0)).exitCode, 0);
    assert.equal(github.issues.length, 2);
    const { exitCode, printed } = await drift(changed("/etc/a"), 10);
    assert.equal(exitCode, 0, printed);
    const issue = github.issues[2]!;
    assert.equal(issue.title, "foresail: others changed files on machines of prod-eu1");
    assert.match(
      issue.body,
      /^<!-- foresail-drift:prod-eu1 -->\n.*`foresail drift --stack prod-eu1`\n\n- `w-1`: `\/etc\/a` \(changed\)$/,
    );
    await drift(changed("/etc/a", "/etc/b`\n@everyone"), 10);
    assert.equal(github.issues.length, 3);
    assert.match(issue.body, /\n- `w-1`: `\/etc\/b @everyone` \(changed\)$/);
    assert.doesNotMatch(issue.body, /secret of the file/);
    await drift(changed(), 0);
    assert.deepEqual(
      github.issues.map(({ state }) => state),
      ["open", "open", "closed"],
    );
  });

  it("open an issue that fits for many files with long names", async () => {
    const paths = Array.from({ length: 400 }, (_, at) => `/etc/${at}/${"x".repeat(4_000)}`);
    const { exitCode, printed } = await drift(changed(...paths), 10);
    assert.equal(exitCode, 0, printed);
    const { body } = github.issues.at(-1)!;
    assert.ok(body.length < 65_536, `${body.length} characters`);
    assert.match(body, /\n- and 200 more$/);
    await drift(changed(), 0);
  });

  it("show no control character of a file's name in a job's log", async () => {
    const gitlab = { GITLAB_CI: "true", FORESAIL_GITLAB_TOKEN: "" };
    const { exitCode, printed } = await drift(changed("/etc/a\u001b[2J\u0007"), 10, gitlab);
    assert.equal(exitCode, 10, printed);
    assert.match(printed, /\n- `w-1`: `\/etc\/a \[2J ` \(changed\)\n/);
  });

  it("open one issue for drift on GitLab, update it, and close it afterwards", async () => {
    const gitlab = await new GitlabApi().start();
    try {
      const onGitlab = (machines: unknown, code: number) => drift(machines, code, gitlab.environment);
      gitlab.issue("theirs", "<!-- foresail-drift:prod-eu1 -->", 7);
      // more than a page of others
      for (let count = 0; count < 100; count++)
        gitlab.issue("other", `<!-- foresail-drift:prod-${count} -->`);
      const others = gitlab.issues.length;
      assert.equal((await onGitlab(changed(), 0)).exitCode, 0);
      assert.equal(gitlab.issues.length, others);
      const { exitCode, printed } = await onGitlab(changed("/etc/a"), 10);
      assert.equal(exitCode, 0, printed);
      const issue = gitlab.issues[others]!;
      assert.match(
        issue.description,
        /^<!-- foresail-drift:prod-eu1 -->\n[^]*\n- `w-1`: `\/etc\/a` \(changed\)$/,
      );
      await onGitlab(changed("/etc/a", "/etc/b`\n/close"), 10);
      assert.equal(gitlab.issues.length, others + 1);
      // no line of it begins with one of GitLab's commands
      assert.match(issue.description, /\n- `w-1`: `\/etc\/b \/close` \(changed\)$/);
      assert.doesNotMatch(issue.description, /secret of the file/);
      await onGitlab(changed(), 0);
      assert.deepEqual([issue.state, gitlab.issues[0]!.state], ["closed", "opened"]);
      const refused = await drift(changed("/etc/a"), 10, {
        ...gitlab.environment,
        FORESAIL_GITLAB_TOKEN: "stale",
      });
      assert.notEqual(refused.exitCode, 0);
      assert.match(refused.printed, /was refused \(401\): .*401 Unauthorized/);
      assert.doesNotMatch(refused.printed, /stale/);
    } finally {
      gitlab.stop();
    }
  });

  it("fail when a machine can't be read, and leave the issue as it is", async () => {
    const { exitCode } = await drift([{ node: "w-1", unknown: "timeout" }], 6);
    assert.deepEqual([exitCode, github.issues[2]!.state], [6, "closed"]);
  });
});
