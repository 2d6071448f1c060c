import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { isPreparation, TABLES, readStep } from "../../../cli/review/steps";
import { announcedOperations } from "../previewed-steps";
import { killUpAt } from "../killed-engine";
import { changingOperations, since, stepRuns } from "../step-logs";
import type { Desired, TestCluster } from "../test-cluster";
import { ready } from "./by-hand";
import type { StoryRun, ExpectedStep, Story } from "./story";

type Previewed = Awaited<ReturnType<TestCluster["preview"]>>;

/**
 * Runs a story on a cluster that is at its start: before each `up` its preview lists what the run says, and the
 * machines' logs have what the preview listed; then everything is as at the start.
 *
 * @throws AssertionError, or Error of what failed
 */
export async function runStory(cluster: TestCluster, start: Desired, story: Story): Promise<void> {
  if (story.wrong === undefined) await followRuns(cluster, start, story);
  // one that became right has to lose its mark
  else await assert.rejects(followRuns(cluster, start, story), story.wrong);
}

async function followRuns(cluster: TestCluster, start: Desired, { runs }: Story): Promise<void> {
  for (const run of runs) await followRun(cluster, start, run);
  if (runs.every(isRefused)) {
    // no run wrote anything, and the logs of the machines are as before
    await cluster.configure(start);
    return assertNodes(cluster, start);
  }
  const last = runs.at(-1);
  if (last?.edit !== undefined || last?.fails !== undefined || last?.killedAt !== undefined) {
    await cluster.configure(start);
    await upAsPreviewed(cluster, start, await cluster.preview());
  }
  await assertAtStart(cluster, start);
}

const isRefused = ({ preview }: StoryRun) => preview instanceof RegExp;

async function followRun(cluster: TestCluster, start: Desired, run: StoryRun): Promise<void> {
  const { byHand = [], edit = {}, preview: expected, during, fails, killedAt, remarks = [], then = [] } = run;
  for (const action of byHand) await action(cluster);
  await cluster.configure({ ...start, ...edit });
  if (expected instanceof RegExp) {
    const before = await runsOf(cluster);
    assert.match(unwrapped(await cluster.refusedUp()), expected);
    assert.deepEqual(changingOperations(since(before, await runsOf(cluster))), []);
  } else {
    const preview = await cluster.preview();
    assertSteps(preview, expected);
    for (const remark of remarks) assert.match(preview.notes.join("\n"), remark);
    const running = during?.(cluster);
    // awaited below, also after a failed run
    running?.catch(() => undefined);
    if (killedAt !== undefined) {
      await killUpAt(cluster, { ...killedAt, victims: "all" });
      await cluster.reopen();
    } else if (fails !== undefined) assert.match(unwrapped(await cluster.failingUp()), fails);
    else if (during !== undefined) await cluster.up();
    else await upAsPreviewed(cluster, { ...start, ...edit }, preview);
    await running;
  }
  for (const action of then) await action(cluster);
}

/** Messages are wrapped, which is of no interest here. */
const unwrapped = (output: string) => output.replaceAll(/\s*\n\s*/g, " ");

/** What any control plane that stays does for one that leaves. */
const REMOVES_MEMBER = ": etcd-remove";

/** What a join begins with on a machine that was given up while it did not answer. */
const BEGINS_ANEW = ": forget-membership";

/** Runs `up`, and compares what the machines' logs have with what the preview listed. */
async function upAsPreviewed(cluster: TestCluster, { on = {} }: Desired, preview: Previewed): Promise<void> {
  const before = await runsOf(cluster);
  await cluster.up();
  const runs = changingOperations(since(before, await runsOf(cluster)))
    .filter((run) => !run.endsWith(BEGINS_ANEW))
    .map((run) => (run.endsWith(REMOVES_MEMBER) ? `any${REMOVES_MEMBER}` : run));
  const announced = announcedOperations(preview).map((operation) => {
    const [machine = ""] = operation.split(":");
    return `${on[machine] ?? machine}${operation.slice(machine.length)}`;
  });
  const leaving = Object.values(preview.steps)
    .flat()
    .filter((line) => line.includes(", remove its etcd member, "));
  announced.push(...leaving.map(() => `any${REMOVES_MEMBER}`));
  assert.deepEqual(runs.sort(), announced.sort(), "the machines' logs, and what the preview listed");
}

/** What ran on the machines that are on, by the names of the container nodes; without SSH, which may be off. */
const runsOf = async ({ fleet }: TestCluster) =>
  stepRuns(
    { onMachine: (machine, script) => fleet.execute(machine, script) },
    (await fleet.list()).filter(({ running }) => running).map(({ name }) => name),
  );

/** Checks that the cluster has exactly the nodes of the start, and that a preview has nothing to do. */
async function assertAtStart(cluster: TestCluster, start: Desired): Promise<void> {
  await assertNodes(cluster, start);
  assert.deepEqual((await cluster.preview()).changes, []);
}

async function assertNodes(cluster: TestCluster, { machines }: Desired): Promise<void> {
  for (const machine of machines) await ready(machine)(cluster);
  const nodes = await cluster.withApi((client) => client.listNodes());
  assert.deepEqual(
    nodes
      .map(({ metadata, spec }) => `${metadata?.name}${spec?.unschedulable === true ? ", cordoned" : ""}`)
      .sort(),
    [...machines].sort(),
  );
}

/** Steps that come with others, so that stories leave them out; the machines' logs are compared with them, too. */
const COMES_WITH: readonly [type: string, of: RegExp][] = [
  // what a machine gets when it joins, and what its agent needs for another configuration
  ["NodeAgents", /^(join|configure$)/],
  ["LoopbackEndpoint", /^(joinControlPlane|remove|lose)$/],
  // the first change of the configuration, and the first updates, bring the policy for their annotations
  ["ReaderAccount", /^(configure|stage)$/],
];

/** Checks that a preview has exactly these steps. Remarks, and what comes with other steps, are left out. */
function assertSteps({ resources }: Previewed, expected: readonly ExpectedStep[]): void {
  const lines = resources.flatMap(({ type, steps }) =>
    steps.map((line) => ({ type, line, step: TABLES[type]?.parse(line) })),
  );
  const comesWith = (type: string) =>
    COMES_WITH.some(
      ([other, of]) => other === type && lines.some(({ step }) => step !== undefined && of.test(step.kind)),
    );
  const found = lines.filter(
    ({ type, line }) => readStep(type, line).role !== "remark" && !isPreparation(line) && !comesWith(type),
  );
  const missing = [...expected];
  const others = found.filter(({ step }) => {
    const at = missing.findIndex((each) => isLike(step, each));
    if (at >= 0) missing.splice(at, 1);
    return at < 0;
  });
  assert.deepEqual(
    { missing, others: others.map(({ line }) => line) },
    { missing: [], others: [] },
    `the preview has these steps:\n${lines.map(({ line }) => line).join("\n")}`,
  );
}

const isLike = (step: object | undefined, expected: ExpectedStep) =>
  step !== undefined &&
  Object.entries(expected).every(([field, value]) =>
    isDeepStrictEqual((step as Record<string, unknown>)[field], value),
  );

/** Brings a cluster back to the start, also after a story that failed: by a run, or as a new cluster. */
export async function restore(cluster: TestCluster, start: Desired): Promise<void> {
  try {
    await cluster.reopen();
    const nodes = await cluster.fleet.list();
    for (const { name, running } of nodes) if (!running) await cluster.fleet.start(name);
    await cluster.configure(start);
    await cluster.up();
    await assertAtStart(cluster, start);
  } catch (error) {
    // for work on a story: what it left is to be seen
    if (process.env.FORESAIL_TEST_KEEP === "1") throw error;
    await cluster.startOver();
    await cluster.configure(start);
    await cluster.up();
  }
}
