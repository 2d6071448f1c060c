/** The agent of a node does not run, or hangs, when the node is asked for a change, the run is killed, and people go on. */
import assert from "node:assert/strict";
import { annotationKeys, CONFIGURATION } from "../../providers/kubeadm/plan/rollout/annotations";
import { configurations, expectNodes, rolloutKilledAt, succeed } from "./killed-rollout";
import { type AgentUnit, OLD, versionRollout } from "./version-rollout";

const KEYS = annotationKeys();
const MACHINES = ["cp-1", "w-1", "w-2"];
/** What a change that nothing can carry out may take until the run says so: far below the time limit of a node. */
const LIMIT_SECONDS = 110;
const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";

const kubelet = (maxPods: number) => ({ kubelet: { maxPods } });
const apiServer = (value: string) => ({
  kubeadm: {
    clusterConfiguration: { apiServer: { extraArgs: [{ name: "default-watch-cache-size", value }] } },
  },
});

/** Settings that are reached, and those of a change that a node is asked for, whose agent does not run. */
interface Change {
  title: string;
  node: string;
  before: object;
  after: object;
}

const WORKER: Change = {
  title: "one of two workers",
  node: "w-1",
  before: { ...kubelet(90), ...apiServer("200") },
  after: { ...kubelet(80), ...apiServer("200") },
};
const CONTROL_PLANE: Change = {
  title: "the only control plane",
  node: "cp-1",
  before: WORKER.before,
  after: { ...kubelet(90), ...apiServer("300") },
};

/** What `up` says of an agent that is so. */
const RECOVERING: [AgentUnit, string][] = [
  ["stopped", "not run and was started"],
  ["hung", "nothing and was started again"],
];
const LOST: [AgentUnit, string][] = [
  ["broken", "203/EXEC"],
  ["hung for ever", "foresail-node-agent did nothing"],
];

describe("a node is asked for a change and its agent does not run", function () {
  this.timeout(600_000);
  const rollout = versionRollout(MACHINES);
  const want = (settings: object) => rollout.want(OLD, {}, settings);
  const killedAt = ({ node, after }: Change, unit: AgentUnit) =>
    rolloutKilledAt(rollout, `asked ${node}, whose agent is ${unit}`, () => want(after));
  const up = () => rollout.ground.stack.call(["up", "--yes", "--skip-preview"]);

  /** Versions of the configuration before the change, by node. */
  let reached: Record<string, string[]>;

  before(async () => {
    want(WORKER.before);
    await succeed(rollout, "up");
    await rollout.keep();
    reached = await configurations(rollout);
  });

  async function annotationsOf(name: string): Promise<Record<string, string>> {
    return (await rollout.ground.kubernetes.getNode(name))?.metadata?.annotations ?? {};
  }

  /** Lets an agent that may not have been started by now read its Node, as after a reboot, and asserts that this changes nothing. */
  async function expectNoLateChange(name: string): Promise<void> {
    const { fleet, kubernetes } = rollout.ground;
    const { agentUnit: _, ...state } = fleet.state(name);
    fleet.files.saveState(name, state);
    const writes = rollout.gate.writes.length;
    const metadata = { annotations: { "example.org/agent": "started" } };
    await kubernetes.mergePatch({ apiVersion: "v1", kind: "Node", name }, { metadata });
    await expectNodes(rollout, OLD, MACHINES);
    assert.deepEqual(
      rollout.deeds.slice(writes).filter((deed) => deed.startsWith("configured")),
      [],
    );
    assert.deepEqual(await configurations(rollout), reached);
  }

  for (const change of [WORKER, CONTROL_PLANE]) {
    const { node } = change;
    /** By day, each way is gone once. */
    const cell = (isByDay: boolean) => (title: string, go: () => Promise<void>) => {
      if (isByDay || ALL_TESTS) it(title, go);
    };

    cell(change === CONTROL_PLANE)(
      `${change.title}: the change is taken back while the agent is stopped`,
      async () => {
        await killedAt(change, "stopped");
        want(change.before);
        const steps = await rollout.steps();
        assert.match(steps?.join("\n") ?? "", new RegExp(`^${node}: back to configuration`, "m"));
        await succeed(rollout, "up");
        await expectNoLateChange(node);
        assert.ok(!rollout.deeds.includes(`configured ${node}`), rollout.deeds.join("\n"));
      },
    );

    cell(change === WORKER)(
      `${change.title}: the change is taken back after the agent has started again`,
      async () => {
        await killedAt(change, "stopped");
        // its machine has what was staged for the change, and nothing says that it may not begin
        const { agentUnit: _, ...state } = rollout.ground.fleet.state(node);
        rollout.ground.fleet.files.saveState(node, state);
        want(change.before);
        await succeed(rollout, "up");
        await expectNoLateChange(node);
      },
    );

    for (const [unit, words] of RECOVERING)
      cell(change === CONTROL_PLANE && unit === "hung")(
        `${change.title}: the same up starts the agent, which is ${unit}, and ends`,
        async () => {
          await killedAt(change, unit);
          const { stdout } = await rollout.ground.stack.call(["preview"]);
          assert.match(
            stdout,
            new RegExp(`the node agent of ${node} has not begun what an earlier run asked for`),
          );
          const { exitCode, stdout: printed, stderr } = await up();
          assert.equal(exitCode, 0, printed + stderr);
          assert.match(printed, new RegExp(`${node}: its node agent did ${words}`));
          await expectNodes(rollout, OLD, MACHINES);
          assert.notDeepEqual((await configurations(rollout))[node], reached[node]);
        },
      );

    for (const [unit, words] of LOST)
      cell(change === WORKER && unit === "broken")(
        `${change.title}: an agent that is ${unit} is named soon, and its node takes pods again`,
        async () => {
          await killedAt(change, unit);
          const began = Date.now();
          const { exitCode, stdout, stderr } = await up();
          assert.ok(exitCode !== 0 && (Date.now() - began) / 1000 < LIMIT_SECONDS, stdout + stderr);
          const printed = (stdout + stderr).replaceAll(/\s+/g, " ");
          assert.match(
            printed,
            new RegExp(`the node agent on ${node} does not run and can't be started: .*${words}`),
          );
          assert.match(printed, /run the command again, which installs the agent again/);
          const annotations = await annotationsOf(node);
          assert.equal(annotations[KEYS.changesAllowed], "false");
          assert.deepEqual([annotations[KEYS.desired(CONFIGURATION)]], reached[node]);
          assert.equal((await rollout.ground.kubernetes.getNode(node))?.spec?.unschedulable ?? false, false);
          // the machine was repaired
          const { agentUnit: _, ...state } = rollout.ground.fleet.state(node);
          rollout.ground.fleet.files.saveState(node, state);
          const agents = (await rollout.ground.stack.preview()).find(
            ({ name }) => name === "test-node-agents",
          );
          assert.match(String(agents?.inputs.steps), new RegExp(`${node}: install node agent`));
          await succeed(rollout, "up");
          await expectNodes(rollout, OLD, MACHINES);
        },
      );
  }

  it("names an agent that can't be installed when the change is taken back", async () => {
    await killedAt(WORKER, "broken");
    want(WORKER.before);
    const began = Date.now();
    const { exitCode, stdout, stderr } = await up();
    assert.ok(exitCode !== 0 && (Date.now() - began) / 1000 < LIMIT_SECONDS, stdout + stderr);
    assert.match(
      (stdout + stderr).replaceAll(/\s+/g, " "),
      /w-1.*does not run and can't be started: .*203\/EXEC/,
    );
    const { agentUnit: _, ...state } = rollout.ground.fleet.state("w-1");
    rollout.ground.fleet.files.saveState("w-1", state);
    await succeed(rollout, "up");
    await expectNoLateChange("w-1");
  });
});
