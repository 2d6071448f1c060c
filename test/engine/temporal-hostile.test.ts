import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Client, Connection } from "@temporalio/client";
import { stringify } from "yaml";
import { EXIT } from "../../cli/terminal/exit-codes";
import {
  RUN_WORKFLOW,
  type RunInput,
  type RunResult,
  type RunState,
  SIGNALS,
  STATE_QUERY,
} from "../../cli/fleet/temporal/messages";
import { pack } from "../../cli/fleet/temporal/packed";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { FleetCommand } from "./fleet-command";
import { SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TemporalGround } from "./temporal-ground";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
const ID = "foresail/waves/waves";
const REGIONS = { a: "eu1", b: "eu1" };
/** What a plugin's error has. */
const SECRET = "hunter2hunter2";

const gate = { command: ["touch", "gate-of-the-checkout"], approval: true };
const canary = { name: "canary", stacks: ["a"], gate };
const WAVES = [canary, { name: "rest", stacks: ["b"] }];

describe("a fleet on a Temporal server to whose namespace others may write", function () {
  this.timeout(SET_UP_MILLISECONDS);
  oneAfterTheOther();
  const ground = new TemporalGround();
  const run = (...args: string[]) => ground.fleet.run("fleet", ...args);
  const timesBegun = (stack: string) => ground.journal().filter((line) => line === `${stack} begins`).length;
  /** Makes the next runs change something. */
  const nextVersion = () => writeFileSync(ground.at("version"), `-${Date.now()}`);
  let client: Client;

  before(async function () {
    if (!ALL_TESTS) leaveOut(this, "the server takes minutes to build: FORESAIL_TEST_ALL=1");
    await ground.make(REGIONS, WAVES);
    await ground.server.start();
    await ground.startWorker("eu1");
    client = new Client({ connection: await Connection.connect({ address: ground.server.options.address }) });
    const { exitCode, stdout, stderr } = await run("preview", "--save-plan", "plans");
    assert.equal(exitCode, EXIT.done, stdout + stderr);
  });
  after(async () => {
    await (client as Client | undefined)?.connection.close();
    await ground.remove();
  });

  const packed = (stack: string) => pack(stack, readFileSync(ground.at(`plans/${stack}.json`), "utf8"));
  /** A run without a gate and a window, as someone without the key makes one. */
  const forged = (over: Partial<RunInput> = {}): RunInput => ({
    ...{ id: ID, startedAt: new Date().toISOString(), review: "r".repeat(64), plans: "plans" },
    fleet: {
      ...{ maxParallel: 2, onFailure: "continue" },
      waves: [
        {
          name: "canary",
          stacks: ["a"],
          gate: { ...gate, commandSeconds: 9, approval: false, command: ["touch", "forged"] },
        },
        { name: "rest", stacks: ["b"] },
      ],
    },
    ...{ regions: REGIONS, from: { stacks: {}, gates: {} }, gateParts: {}, approved: ["canary"] },
    ...{ seal: "0".repeat(64), said: [], ...over },
  });
  const start = async (input: RunInput, planOf: (stack: string) => unknown): Promise<RunResult> => {
    const handle = await client.workflow.start(RUN_WORKFLOW, {
      workflowId: ID,
      taskQueue: ID,
      args: [input],
    });
    for (const stack of Object.keys(REGIONS)) await handle.signal(SIGNALS.plan, stack, planOf(stack));
    return (await handle.result()) as RunResult;
  };

  const starts: [what: string, over: Partial<RunInput>, planOf: (stack: string) => unknown][] = [
    ["another run with a plan", {}, packed],
    ["a plan with a seal that was made up", {}, (stack) => ({ plan: packed(stack), seal: "0".repeat(64) })],
    ["a run with the name of a folder above", { startedAt: ".." }, packed],
    ["a run with a path as its name", { startedAt: "../x" }, packed],
  ];
  for (const [what, over, planOf] of starts)
    it(`changes nothing for ${what}, and runs no command that came with it`, async () => {
      const { end, state } = await start(forged(over), planOf);
      assert.equal(end, "failed");
      assert.match(state.lines.join("\n"), /was not begun with the key of this fleet/);
      assert.deepEqual(ground.journal(), []);
      for (const file of ["forged", ".foresail/fleet/a.plan", ".foresail/fleet/worker"])
        assert.ok(!existsSync(ground.at(file)), file);
    });

  it("says what is missing without the key, and changes nothing", async () => {
    const keyless = (key: string) => new FleetCommand(ground.stack, { FORESAIL_FLEET_KEY: key });
    for (const args of [
      ["up", "--yes"],
      ["preview"],
      ["worker", "--region", "eu1"],
      ["approve", "--wave", "canary"],
    ]) {
      const { exitCode, stderr } = await keyless("").run("fleet", ...args);
      assert.equal(exitCode, EXIT.failed, stderr);
      assert.match(stderr, /FORESAIL_FLEET_KEY is not set; it needs at least 32/);
    }
    const other = await keyless("0".repeat(32)).run("fleet", "up", "--yes");
    assert.equal(other.exitCode, EXIT.failed);
    assert.match(other.stdout, /its preview was not made by a worker with the key of this fleet/);
    assert.deepEqual(ground.journal(), []);
  });

  it("begins nothing after an approval that was made up, and goes on with a real one", async () => {
    const paused = await run("up", "--plan", "plans");
    assert.equal(paused.exitCode, EXIT.paused, paused.stdout + paused.stderr);
    const handle = client.workflow.getHandle(ID);
    const { startedAt } = await handle.query<RunState, [number]>(STATE_QUERY, 0);
    const statement = { kind: "approved", wave: "canary", at: Date.parse(startedAt) };
    await handle.signal(SIGNALS.approve, "canary", { statement, seal: "0".repeat(64) });
    const { state } = (await handle.result()) as RunResult;
    assert.match(
      state.lines.join("\n"),
      /^b: interrupted [^]*has no approval that was given with the fleet's key/m,
    );
    assert.deepEqual([timesBegun("a"), timesBegun("b")], [1, 0]);
    const { exitCode, stdout, stderr } = await run("up", "--continue", "--approve", "canary");
    assert.equal(exitCode, EXIT.done, stdout + stderr);
    assert.deepEqual([timesBegun("a"), timesBegun("b")], [1, 1]);
    assert.ok(existsSync(ground.at("gate-of-the-checkout")));
  });

  it("changes nothing when everything of an earlier run is said again", async () => {
    const before = ground.journal();
    const handle = client.workflow.getHandle(ID);
    const { state } = (await handle.result()) as RunResult;
    const history = await handle.fetchHistory();
    const sealed = new Map<string, unknown>();
    for (const { workflowExecutionSignaledEventAttributes: signal } of history.events ?? []) {
      if (signal?.signalName !== SIGNALS.plan) continue;
      const [stack, plan] = (signal.input?.payloads ?? []).map(
        ({ data }) => JSON.parse(Buffer.from(data ?? []).toString("utf8")) as unknown,
      );
      sealed.set(String(stack), plan);
    }
    assert.ok(sealed.has("b"));
    const { startedAt, review, seal, said } = state;
    // b's plan is in this history, a's in the one before
    const old = {
      startedAt,
      review,
      seal,
      said,
      from: { stacks: { a: "done" }, gates: { canary: "passed" } },
    };
    const again = await start(
      forged(old as Partial<RunInput>),
      (stack) => sealed.get(stack) ?? packed(stack),
    );
    assert.match(again.state.lines.join("\n"), /^b: failed [^]*its plan is not the one that was reviewed/m);
    assert.deepEqual(ground.journal(), before);
  });

  it("neither joins nor approves an open run of others, and names the command that ends it", async () => {
    const input = forged();
    const handle = await client.workflow.start(RUN_WORKFLOW, {
      ...{ workflowId: ID, taskQueue: ID, args: [input] },
    });
    for (const [args, words] of [
      [["up", "--continue"], /is open in Temporal, and can't be joined: the run was not begun with the key/],
      [
        ["up", "--plan", "plans", "--approve", "canary"],
        /temporal workflow terminate --workflow-id foresail/,
      ],
      [["approve", "--wave", "canary"], /was not begun with the key of this fleet.*; nothing was approved/],
    ] as const) {
      const { exitCode, stderr } = await run(...args);
      assert.equal(exitCode, EXIT.failed, stderr);
      assert.match(stderr, words);
    }
    await handle.terminate();
  });

  it("does not take the word of the server for what is done", async () => {
    nextVersion();
    const review = await run("preview", "--save-plan", "plans");
    assert.equal(review.exitCode, EXIT.done, review.stdout);
    const before = ground.journal();
    const from = { stacks: { a: "done", b: "done" }, gates: { canary: "passed" } } as const;
    const { end } = await start(forged({ from }), packed);
    assert.equal(end, "done");
    const { exitCode, stderr } = await run("up", "--continue");
    assert.equal(exitCode, EXIT.usage, stderr);
    assert.match(stderr, /there is no run to continue/);
    assert.deepEqual(ground.journal(), before);
  });

  it("keeps to the window and the gate of the worker's checkout, whatever the command's file says", async () => {
    const open = [
      { name: "canary", stacks: ["a"] },
      { name: "rest", stacks: ["b"] },
    ];
    const address = ground.server.options.address;
    writeFileSync(ground.at("open.yaml"), stringify({ runner: { temporal: { address } }, waves: open }));
    const hour = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    const window = { from: hour(2), to: hour(3), timeZone: "UTC" };
    const before = timesBegun("b");
    for (const [waves, why] of [
      [WAVES, /^b: interrupted [^]*no worker of eu1 has checked the part command of the gate of canary/m],
      [[{ ...open[0] }, { ...open[1], window }], /^b: interrupted [^]*its window, .* is closed/m],
    ] as const) {
      ground.writeFleet({ waves });
      nextVersion();
      const { exitCode, stdout } = await run("up", "--yes", "--file", "open.yaml");
      assert.equal(exitCode, EXIT.failed, stdout);
      assert.match(stdout, why);
    }
    assert.equal(timesBegun("b"), before);
    ground.writeFleet({ waves: open });
  });

  it("keeps the secrets in errors of programs and plugins out of the history", async () => {
    nextVersion();
    writeFileSync(ground.at("fail-a"), `the registry refused --password ${SECRET}\n`);
    const { exitCode, stdout } = await run("up", "--yes");
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.match(stdout, /the registry refused --password \[secret\]/);
    for (const text of await ground.server.histories()) assert.ok(!text.includes(SECRET));
  });
});
