import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { asyncLocalStorage, Context, type Info } from "@temporalio/activity";
import { type Fleet, readFleet } from "../../../../cli/fleet/plan/fleet";
import type { Statement } from "../../../../cli/fleet/plan/trust";
import { activitiesOf } from "../../../../cli/fleet/temporal/activities";
import type { FleetActivities, RunIdentity } from "../../../../cli/fleet/temporal/messages";
import { pack } from "../../../../cli/fleet/temporal/packed";
import { FleetSeals } from "../../../../cli/fleet/temporal/seals";

const sealsWith = (key: string) => FleetSeals.take("fleet", { FORESAIL_FLEET_KEY: key.repeat(32) });
const SEALS = sealsWith("a");
const EXECUTION = "8a6e7c2e-0001";
const RUN = { startedAt: "2026-01-05T11:00:00.000Z", review: "r" };
const PLAN = pack("s1", "{}");
const REGIONS = { s0: "eu1", s1: "eu1" };
const SECRET = "hunter2hunter2";

describe("the worker of a fleet", () => {
  let folder: string;
  /** Writes a mark when the gate's command runs. */
  const gate = {
    command: ["sh", "-c", `touch checked; echo "token: ${SECRET}" >&2; exit 1`],
    approval: true,
  };
  const fleetOf = (wave: object = {}): Fleet => {
    const waves = [
      { name: "canary", stacks: ["s0"], gate },
      { name: "rest", stacks: ["s1"], ...wave },
    ];
    const { fleet, issues } = readFleet({ waves }, ["s0", "s1"]);
    assert.deepEqual(issues, []);
    return fleet!;
  };
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "foresail-worker-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Does what a server asks for. */
  const ask = <Answer>(
    work: (activities: FleetActivities) => Promise<Answer>,
    { fleet = fleetOf(), execution = EXECUTION } = {},
  ): Promise<Answer> => {
    const project = { name: "waves", folder, main: folder } as never;
    const load = () => Promise.resolve({ fleet, regions: REGIONS });
    const activities = activitiesOf({ project, region: "eu1", seals: SEALS, load });
    const info = { attempt: 1, workflowExecution: { workflowId: "w", runId: execution } } as Info;
    const never = new Promise<never>(() => undefined);
    const args = [info, never, new AbortController().signal, () => undefined] as const;
    const context = new Context(...args, undefined, {} as never, {} as never, {});
    return asyncLocalStorage.run(context, () => work(activities));
  };
  const say = (statement: Statement, seals = SEALS, run = RUN) => seals.say(run, statement);
  const at = Date.parse(RUN.startedAt);
  const SAID = [
    say({ kind: "done", stack: "s0", at }),
    say({ kind: "part", wave: "canary", part: "command", region: "eu1", at }),
    say({ kind: "approved", wave: "canary", at }),
  ];
  const asked = () => ({
    ...{ run: SEALS.run(RUN), stack: "s1", plan: SEALS.plan(RUN, EXECUTION, "s1", PLAN), said: SAID },
  });
  const nothing = () => assert.deepEqual(readdirSync(folder), [], "something was begun");

  it("changes a stack by the plan that was sealed for it, once its waves and gates are over", async () => {
    const outcome = await ask((worker) => worker.up(asked()));
    // a folder without a project: the command has begun, and says why it ends
    assert.equal(outcome.state, "failed");
    assert.match(outcome.words.join("\n"), /exit code \d/);
    assert.ok(existsSync(path.join(folder, ".foresail", "fleet", "worker")));
    assert.equal(SEALS.said(RUN, [outcome.said])[0]?.kind, "failed");
  });

  const run = (over: Partial<RunIdentity>) => ({ run: { ...SEALS.run(RUN), ...over } });
  const forged: [what: string, over: () => object, why: RegExp][] = [
    ["a run without a seal", () => ({ run: RUN }), /was not begun with the key/],
    ["a run of another key", () => ({ run: sealsWith("b").run(RUN) }), /was not begun with the key/],
    ["a run with the name of a folder above", () => run({ startedAt: "../x" }), /was not begun/],
    [
      "a run that a key sealed by the name ..",
      () => ({ run: SEALS.run({ ...RUN, startedAt: ".." }) }),
      /was not/,
    ],
    [
      "another plan",
      () => ({ plan: { ...asked().plan, plan: pack("s1", "[]") } }),
      /its plan is not the one/,
    ],
    ["a plan as earlier releases sent it", () => ({ plan: PLAN }), /its plan is not the one/],
    ["no plan", () => ({ plan: undefined }), /its plan is not the one/],
    [
      "the plan of another stack",
      () => ({ plan: SEALS.plan(RUN, EXECUTION, "s0", PLAN) }),
      /its plan is not/,
    ],
    ["a plan of another workflow", () => ({ plan: SEALS.plan(RUN, "old", "s1", PLAN) }), /its plan is not/],
    [
      "a stack that its checkout does not have",
      () => ({ stack: "../x", plan: SEALS.plan(RUN, EXECUTION, "../x", PLAN) }),
      /has no stack .*\.\.\/x.* in this region/,
    ],
    [
      "an approval of another key",
      () => ({ said: [...SAID.slice(0, 2), say({ kind: "approved", wave: "canary", at }, sealsWith("b"))] }),
      /has no approval/,
    ],
    [
      "an approval of another run",
      () => ({
        said: [
          ...SAID.slice(0, 2),
          say({ kind: "approved", wave: "canary", at }, SEALS, { ...RUN, review: "x" }),
        ],
      }),
      /has no approval/,
    ],
    [
      "a gate that no worker has checked",
      () => ({ said: [SAID[0], SAID[2]] }),
      /no worker of eu1 has checked/,
    ],
    [
      "a wave before that has not ended",
      () => ({ said: SAID.slice(1) }),
      /no worker has said that it changed s0/,
    ],
    ["nothing said at all", () => ({ said: undefined }), /no worker has said that it changed s0/],
  ];
  for (const [what, over, why] of forged)
    it(`changes nothing for ${what}`, async () => {
      const outcome = await ask((worker) => worker.up({ ...asked(), ...over() }));
      assert.match(outcome.words.join("\n"), why);
      assert.ok(outcome.state !== "done" && outcome.said === undefined);
      const worker = path.join(folder, ".foresail", "fleet", "worker", encodeURIComponent(RUN.startedAt));
      if (existsSync(worker)) assert.deepEqual(readdirSync(worker), []);
      else nothing();
    });

  it("changes nothing outside of the window of its own fleet.yaml", async () => {
    const hour = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    const fleet = fleetOf({ window: { from: hour(2), to: hour(3), timeZone: "UTC" } });
    const outcome = await ask((worker) => worker.up(asked()), { fleet });
    assert.deepEqual([outcome.state, outcome.said], ["interrupted", undefined]);
    assert.match(outcome.words[0]!, /its window, .* is closed/);
  });

  it("does a stack once that is asked for twice", async () => {
    const worker = path.join(folder, ".foresail", "fleet", "worker", encodeURIComponent(RUN.startedAt));
    mkdirSync(worker, { recursive: true });
    writeFileSync(path.join(worker, "s1.done"), "");
    const outcome = await ask((worker) => worker.up(asked()));
    assert.deepEqual([outcome.state, readdirSync(worker)], ["done", ["s1.done"]]);
  });

  it("runs the command of its own gate, for a sealed run only, and masks what the command says", async () => {
    const part = { run: SEALS.run(RUN), wave: "canary", part: "command" as const, said: SAID };
    for (const [over, why] of [
      [{ run: RUN }, /was not begun with the key/],
      [{ said: [] }, /no worker has said that it changed s0/],
      [{ wave: "rest" }, /has no gate of .*rest/],
      [{ part: "url" }, /has no gate of .*canary.* with .*url/],
    ] as const) {
      const outcome = await ask((worker) => worker.gate({ ...part, ...over } as never));
      assert.match(JSON.stringify(outcome), why);
      nothing();
    }
    const outcome = await ask((worker) => worker.gate(part));
    assert.deepEqual(outcome, { why: "exit code 1: token: [secret]" });
    assert.deepEqual(readdirSync(folder), ["checked"]);
  });

  it("seals a preview for the command that asked for it", async () => {
    const outcome = await ask((worker) => worker.preview({ stack: "../x", nonce: "n" }));
    assert.match(outcome.review.errors.join("\n"), /has no stack .*\.\.\/x/);
    assert.ok(SEALS.isPreview("n", "../x", outcome));
    nothing();
  });
});
