import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readProcess } from "../../lib/process/identity";
import { type Comment, GithubApi } from "../simulation/github-api";
import { writesOf } from "../simulation/journal";
import { desiredCluster } from "./desired-cluster";
import { observedCluster } from "./observed-cluster";
import { descendants, killProcess } from "../support/process-tree";
import { simulatedFixture } from "./simulated-fixture";
import { type StepAnswer, WorkflowCheckout } from "./workflow-checkout";

const REPOSITORY = "example/clusters";

describe("the action on a pull request", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({
    machines: ["cp-1", "w-1", "w-2", "w-3", "w-4"],
    milliseconds: { "join-worker": 300, prepare: 50 },
  });
  const github = new GithubApi(REPOSITORY);
  let checkout: WorkflowCheckout;
  /** A comment with the marker that no workflow wrote. */
  let theirs: Comment;

  before(async () => {
    await github.start();
    checkout = new WorkflowCheckout(fixture.stack, github);
    want("cp-1", "w-1");
    checkout.commit("Make the cluster");
    await fixture.stack.up();
  });
  after(() => {
    github.stop();
    checkout?.remove();
  });

  const want = (...machines: string[]) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines) });
  const nodes = async () => Object.keys(await observedCluster(fixture.kubernetes));
  const ours = () => github.comments.filter(({ user }) => user.login === "github-actions[bot]");
  const planFile = () => checkout.planFile;
  const addRun: GithubApi["addRun"] = (...run) => github.addRun(...run);
  const planName = () =>
    `foresail-plan-test-1-${github.pulls[0]!.head.sha}-${checkout.git("rev-parse", "HEAD^{tree}")}`;

  const apply = (found: StepAnswer) => checkout.start("apply.sh", { PLAN_SHA256: found.outputs["sha256"]! });

  it("comments with the steps, and leaves a plan named after the files", async () => {
    theirs = github.comment("someone", "<!-- foresail:foresail/test -->\nmine");
    checkout.branch("add-w-2", () => want("cp-1", "w-1", "w-2"));
    const { exitCode, printed, outputs } = await checkout.previewJob("add-w-2");
    assert.equal(exitCode, 0, printed);
    const [head, tree] = ["add-w-2", "add-w-2^{tree}"].map((name) => checkout.git("rev-parse", name));
    assert.equal(outputs["plan-name"], `foresail-plan-test-1-${head}-${tree}`);
    const [{ body }] = ours() as [Comment];
    assert.match(
      body,
      /^<!-- foresail:foresail\/test -->\n### foresail: \d+ steps? in \d+ resources? of `test`/,
    );
    assert.match(body, /^w-2: join as worker of workers, wait until Ready$/m);
    assert.match(body, /\nPlan: SHA-256 `[0-9a-f]{64}`$/);
  });

  it("updates its own comment, and no comment of another author with the same marker", async () => {
    for (let more = 0; more < 120; more++) github.comment("someone", `remark ${more}`);
    checkout.branch("add-w-2", () => want("cp-1", "w-1", "w-2", "w-3"));
    await checkout.previewJob("add-w-2");
    assert.equal(ours().length, 1);
    assert.match(ours()[0]!.body, /^w-3: join as worker/m);
    assert.equal(theirs.body, "<!-- foresail:foresail/test -->\nmine");
  });

  it("reads the cluster with the reader's kubeconfig, in a file that is deleted after the step", async () => {
    checkout.checkOutPullRequest("add-w-2");
    const environment = { FILES: checkout.files, READER_KUBECONFIG: "not: a kubeconfig" };
    await checkout.step("take-stack-files.sh", environment);
    const { printed } = await checkout.step("preview.sh", environment);
    checkout.git("checkout", "--quiet", "--", ".");
    assert.match(printed, /could not be read: the kubeconfig has no clusters/);
    const left = readdirSync(path.dirname(checkout.out)).filter((name) => name.startsWith("foresail."));
    assert.deepEqual(left, []);
  });

  it("comments on a preview that is refused, and leaves no plan", async () => {
    const count = github.runs.length;
    checkout.branch("typo", () =>
      fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1"], { nmae: "typo" }) }),
    );
    assert.equal((await checkout.previewJob("typo")).exitCode, 1);
    assert.match(ours()[0]!.body, /the preview of `test` failed[^]*nmae/);
    assert.doesNotMatch(ours()[0]!.body, /SHA-256/);
    assert.equal(github.runs.length, count);
    await checkout.previewJob("add-w-2");
  });

  it("runs no code of a branch, and uses only the content of its stack files", async () => {
    const script = path.join(fixture.folder, "package.json");
    checkout.branch("code", () => writeFileSync(script, "echo poisoned"));
    const code = await checkout.previewJob("code");
    assert.deepEqual([code.exitCode, code.outputs], [0, {}]);
    assert.match(code.printed, /changes no file in stacks\/config/);
    checkout.branch("mixed", () => {
      want("cp-1", "w-1", "w-2");
      writeFileSync(script, "echo poisoned");
    });
    const mixed = await checkout.previewJob("mixed");
    assert.equal(mixed.exitCode, 1);
    assert.match(mixed.printed, /::error::This pull request changes stack files and 1 other files/);
    const linked = path.join(fixture.folder, "stacks/config/Pulumi.linked.yaml");
    checkout.branch("linked", () => symlinkSync("/etc/passwd", linked));
    checkout.checkOutPullRequest("linked");
    await checkout.step("take-stack-files.sh", { FILES: checkout.files });
    assert.equal(readFileSync(linked, "utf8"), "/etc/passwd");
    rmSync(linked);
  });

  it("previews nothing when main has changed since the run started", async () => {
    checkout.checkOutPullRequest("add-w-2");
    checkout.git("commit", "--quiet", "--allow-empty", "--message", "Move main");
    const { exitCode, printed } = await checkout.step("take-stack-files.sh", { FILES: checkout.files });
    assert.equal(exitCode, 1);
    assert.match(printed, /::error::main has moved/);
    checkout.git("reset", "--quiet", "--hard", "HEAD~1");
  });

  it("finds the plan after a squash, since the files are the same", async () => {
    checkout.merge("add-w-2");
    const { exitCode, printed, outputs } = await checkout.fetchPlan();
    assert.equal(exitCode, 0, printed);
    assert.equal(outputs["plan-name"], planName());
  });

  const pull = () => github.pulls[0]!;
  const other = { id: 99 };
  const poisoned: Readonly<Record<string, () => void>> = {
    "of another workflow": () =>
      addRun(pull().head.sha, planName(), { path: ".github/workflows/other.yaml" }),
    "of another event": () => addRun(pull().head.sha, planName(), { event: "push" }),
    "of a fork": () => addRun(pull().head.sha, planName(), { head_repository: other }),
    "of a fork that is gone": () => addRun(pull().head.sha, planName(), { head_repository: null }),
    "of an older head": () => addRun("0".repeat(40), planName().replace(pull().head.sha, "0".repeat(40))),
    "of a workflow that a branch brings": () =>
      addRun(pull().head.sha, planName(), { event: "pull_request" }),
    "of a run that failed": () => addRun(pull().head.sha, planName(), { conclusion: "failure" }),
    "of a run that has not ended": () => addRun(pull().head.sha, planName(), { conclusion: null }),
  };
  for (const [source, poison] of Object.entries(poisoned))
    it(`accepts no plan ${source}`, async () => {
      const own = [...github.runs];
      poison();
      assert.equal((await checkout.fetchPlan()).outputs["run-id"], String(own.length));
      github.runs.splice(0, own.length);
      const alone = await checkout.fetchPlan();
      github.runs.splice(0, 1, ...own);
      assert.equal(alone.exitCode, 1);
      assert.match(
        alone.printed,
        /::error::No successful preview of pull request 1 has a plan for these files/,
      );
    });

  const refusals: Readonly<Record<string, { change: () => () => void; error: RegExp }>> = {
    "two plans of one name in a run": {
      change: () => {
        const { artifacts } = github.runs.at(-1)!;
        artifacts.push({ ...artifacts[0]! });
        return () => artifacts.pop();
      },
      error: /has 2 plans named/,
    },
    "a second comment of a workflow": {
      change: () => {
        github.comment("github-actions[bot]", ours()[0]!.body);
        return () => github.comments.pop();
      },
      error: /has 2 comments on test/,
    },
    "a comment that names no plan at its end": {
      change: () => {
        const comment = ours()[0]!;
        const { body } = comment;
        comment.body = `${body}\nand more`;
        return () => void (comment.body = body);
      },
      error: /needs one that names a plan/,
    },
    "a pull request that changed code, too": {
      change: () => {
        const { files } = pull();
        Object.assign(pull(), { files: [...files, { filename: "x.md", previous_filename: "index.ts" }] });
        return () => void Object.assign(pull(), { files });
      },
      error: /changes stack files and code/,
    },
    "a commit of no pull request": {
      change: () => {
        checkout.git("commit", "--quiet", "--allow-empty", "--message", "Push past the review");
        return () => checkout.git("reset", "--quiet", "--hard", "HEAD~1");
      },
      error: /comes from no merged pull request/,
    },
    "files that are not those of the preview": {
      change: () => {
        want("cp-1", "w-1", "w-2", "w-3", "w-4");
        checkout.commit("Push past the review");
        const { merge_commit_sha } = pull();
        Object.assign(pull(), { merge_commit_sha: checkout.git("rev-parse", "HEAD") });
        return () => {
          Object.assign(pull(), { merge_commit_sha });
          checkout.git("reset", "--quiet", "--hard", "HEAD~1");
        };
      },
      error: /has a plan for these files/,
    },
  };
  for (const [what, { change, error }] of Object.entries(refusals))
    it(`refuses ${what}`, async () => {
      const undo = change();
      const { exitCode, printed, outputs } = await checkout.fetchPlan();
      undo();
      assert.deepEqual([exitCode, outputs], [1, {}]);
      assert.match(printed, error);
    });

  it("has nothing to apply after a pull request that changes no stack file", async () => {
    const { files } = pull();
    Object.assign(pull(), { files: [{ filename: "index.ts" }] });
    const { exitCode, printed, outputs } = await checkout.fetchPlan();
    Object.assign(pull(), { files });
    assert.deepEqual([exitCode, outputs], [0, {}]);
    assert.match(printed, /::notice::.* nothing to apply/);
  });

  it("refuses a plan whose content differs from the reviewed comment, and changes nothing", async () => {
    const found = await checkout.fetchPlan();
    appendFileSync(planFile(), " ");
    const asked = fixture.fleet.journal.length;
    const { exitCode, printed } = await apply(found).ended;
    assert.equal(exitCode, 1);
    assert.match(printed, /::error::The plan of test is not the one in the reviewed comment/);
    assert.equal(fixture.fleet.journal.length, asked);
  });

  it("refuses to apply when the cluster changed between preview and merge, and changes nothing", async () => {
    const w1 = { apiVersion: "v1", kind: "Node", name: "w-1" };
    const before = await fixture.kubernetes.get<{ metadata: object; spec: object }>(w1);
    await fixture.kubernetes.mergePatch(w1, { metadata: { labels: { "foresail/group": null } } });
    const found = await checkout.fetchPlan();
    const written = writesOf(fixture.fleet.journal);
    const state = JSON.stringify((await fixture.stack.export()).deployment.resources);
    const { exitCode, printed } = await apply(found).ended;
    assert.equal(exitCode, 3, printed);
    assert.match(printed, /::error::The cluster of test has changed since the review; nothing was changed/);
    assert.deepEqual(writesOf(fixture.fleet.journal), written);
    assert.equal(JSON.stringify((await fixture.stack.export()).deployment.resources), state);
    const { labels } = before!.metadata as { labels: Record<string, string> };
    await fixture.kubernetes.mergePatch(w1, { metadata: { labels } });
  });

  it("continues with the same plan after the runner was killed, up to the reviewed cluster", async () => {
    const found = await checkout.fetchPlan();
    fixture.fleet.inject({ operation: "join-worker", machine: "w-3", kind: "hang", milliseconds: 4_000 });
    const { child, ended } = apply(found);
    while (!(await nodes()).includes("w-2")) {
      assert.equal(child.exitCode, null);
      await pause(20);
    }
    await pause(700);
    [readProcess(child.pid!)!, ...descendants(child.pid!)].forEach(killProcess);
    assert.notEqual((await ended).exitCode, 0);
    const { exitCode, printed } = await apply(await checkout.fetchPlan()).ended;
    assert.equal(exitCode, 0, printed);
    assert.match(printed, /a part of what was reviewed is done/);
    assert.deepEqual(await nodes(), ["cp-1", "w-1", "w-2", "w-3"]);
    const joins = fixture.fleet.journal.filter(
      ({ operation, outcome }) => operation === "join-worker" && outcome === "done",
    );
    assert.deepEqual(joins.map(({ machine }) => machine).sort(), ["w-1", "w-2", "w-3"]);
  });

  it("shows no secret in comment, plan or log", () => {
    const text = [
      fixture.stack.printed,
      readFileSync(planFile(), "utf8"),
      ...github.comments.map(({ body }) => body),
    ];
    assert.equal(/PRIVATE KEY|client-key-data|token-of-the-workflow/.test(text.join("\n")), false);
  });
});
