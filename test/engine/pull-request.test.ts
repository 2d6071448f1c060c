import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readProcess } from "../../lib/process/identity";
import { type Comment, GithubApi } from "../simulation/github-api";
import { desiredCluster } from "./desired-cluster";
import { observedCluster } from "./observed-cluster";
import { descendants, killProcess } from "../support/process-tree";
import { simulatedFixture } from "./simulated-fixture";
import { type StepAnswer, WorkflowCheckout } from "./workflow-checkout";

const REPOSITORY = "example/clusters";
const THIS_REPOSITORY = 11;

describe("the example workflow of a pull request", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({
    machines: ["cp-1", "w-1", "w-2", "w-3", "w-4"],
    milliseconds: { "join-worker": 300, prepare: 50 },
  });
  const github = new GithubApi(REPOSITORY);
  let checkout: WorkflowCheckout;
  let runs = 0;
  /** A comment with the marker in it that no workflow wrote. */
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
  const ours = () => github.comments.find(({ user }) => user.login === "github-actions[bot]")!;
  const planFile = () => path.join(checkout.out, "plan.json");
  const storedPlan = (run: number) => path.join(fixture.folder, "backend", `artifact-${run}.json`);

  /** What `actions/upload-artifact` does. */
  function upload(name: string, headRepository = THIS_REPOSITORY): void {
    const id = ++runs;
    if (existsSync(planFile())) cpSync(planFile(), storedPlan(id));
    github.artifacts.push({
      name,
      expired: false,
      created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, id)).toISOString(),
      workflow_run: { id, repository_id: THIS_REPOSITORY, head_repository_id: headRepository },
    });
  }

  /** The job of a pull request, on what main will be after its merge. */
  async function previewJob(): Promise<StepAnswer> {
    const preview = await checkout.step("preview.sh");
    const comment = await checkout.step("comment.mjs");
    assert.equal(comment.exitCode, 0, comment.printed);
    if (preview.exitCode === 0) upload(preview.outputs["plan-name"]!);
    return preview;
  }

  /** The job of a push to main, as far as the plan. */
  async function fetchPlan(): Promise<StepAnswer> {
    rmSync(planFile(), { force: true });
    const found = await checkout.step("find-plan.mjs");
    if (found.exitCode === 0) cpSync(storedPlan(Number(found.outputs["run-id"])), planFile());
    return found;
  }

  it("comments with the steps, and leaves a plan named after the files", async () => {
    theirs = github.comment("somebody", "<!-- foresail:foresail/test -->\nmine");
    checkout.git("checkout", "--quiet", "-b", "add-w-2");
    want("cp-1", "w-1", "w-2");
    checkout.commit("Add w-2");
    const { exitCode, printed, outputs } = await previewJob();
    assert.equal(exitCode, 0, printed);
    assert.equal(outputs["plan-name"], `foresail-plan-test-${checkout.git("rev-parse", "HEAD^{tree}")}`);
    assert.match(
      ours().body,
      /^<!-- foresail:foresail\/test -->\n### foresail: \d+ steps? in \d+ resources? of `test`/,
    );
    assert.match(ours().body, /^w-2: join as worker of workers, wait until Ready$/m);
  });

  it("updates its comment in place, and nobody else's that bears the marker", async () => {
    for (let more = 0; more < 120; more++) github.comment("somebody", `remark ${more}`);
    want("cp-1", "w-1", "w-2", "w-3");
    checkout.commit("Add w-3, too");
    await previewJob();
    assert.equal(github.comments.filter(({ user }) => user.login === "github-actions[bot]").length, 1);
    assert.match(ours().body, /^w-3: join as worker/m);
    assert.equal(theirs.body, "<!-- foresail:foresail/test -->\nmine");
  });

  it("comments on a preview that is refused, and leaves no plan", async () => {
    const count = github.artifacts.length;
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1"], { nmae: "typo" }) });
    const { exitCode } = await previewJob();
    assert.equal(exitCode, 1);
    assert.match(ours().body, /the preview of `test` failed[^]*nmae/);
    assert.equal(github.artifacts.length, count);
    checkout.git("checkout", "--quiet", "--", ".");
    await previewJob();
  });

  it("finds the plan after a squash, since the files are the same", async () => {
    checkout.git("checkout", "--quiet", "main");
    checkout.git("merge", "--quiet", "--squash", "add-w-2");
    checkout.commit("Add two workers");
    const { exitCode, printed } = await fetchPlan();
    assert.equal(exitCode, 0, printed);
  });

  it("takes no plan of a fork, nor one for other files", async () => {
    const name = github.artifacts.at(-1)!.name;
    upload(name, 99);
    assert.equal((await fetchPlan()).outputs["run-id"], String(runs - 1));
    github.artifacts.pop();
    checkout.git("commit", "--quiet", "--allow-empty", "--message", "Say more");
    assert.equal((await fetchPlan()).exitCode, 0);
    want("cp-1", "w-1", "w-2", "w-3", "w-4");
    checkout.commit("Push past the review");
    const { exitCode, printed } = await fetchPlan();
    assert.equal(exitCode, 1);
    assert.match(printed, /::error::No reviewed plan for these files/);
    checkout.git("reset", "--quiet", "--hard", "HEAD~1");
  });

  it("refuses to apply when the cluster moved between preview and merge, and touches nothing", async () => {
    const w1 = { apiVersion: "v1", kind: "Node", name: "w-1" };
    const before = await fixture.kubernetes.get<{ metadata: object; spec: object }>(w1);
    await fixture.kubernetes.mergePatch(w1, { metadata: { labels: { "foresail/group": null } } });
    await fetchPlan();
    const asked = fixture.fleet.journal.length;
    const state = JSON.stringify((await fixture.stack.export()).deployment.resources);
    const { exitCode, printed } = await checkout.step("apply.sh");
    assert.equal(exitCode, 3, printed);
    assert.match(
      printed,
      /::error::The cluster of test is no longer as it was reviewed; nothing was touched/,
    );
    assert.equal(fixture.fleet.journal.length, asked);
    assert.equal(JSON.stringify((await fixture.stack.export()).deployment.resources), state);
    const { labels } = before!.metadata as { labels: Record<string, string> };
    await fixture.kubernetes.mergePatch(w1, { metadata: { labels } });
  });

  it("goes on with the same plan after the runner was killed, to the reviewed cluster", async () => {
    await fetchPlan();
    fixture.fleet.inject({ operation: "join-worker", machine: "w-3", kind: "hang", milliseconds: 4_000 });
    const { child, ended } = checkout.start("apply.sh");
    while (!(await nodes()).includes("w-2")) {
      assert.equal(child.exitCode, null);
      await pause(20);
    }
    await pause(700);
    [readProcess(child.pid!)!, ...descendants(child.pid!)].forEach(killProcess);
    assert.notEqual((await ended).exitCode, 0);
    await fetchPlan();
    const { exitCode, printed } = await checkout.step("apply.sh");
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
