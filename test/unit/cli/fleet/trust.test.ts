import assert from "node:assert/strict";
import { type Fleet, readFleet } from "../../../../cli/fleet/plan/fleet";
import {
  partRefusal,
  stackRefusal,
  type Statement,
  type TrustContext,
} from "../../../../cli/fleet/plan/trust";
import type { RunIdentity } from "../../../../cli/fleet/temporal/messages";
import { FleetSeals } from "../../../../cli/fleet/temporal/seals";

const KEY = "1".repeat(64);
const NOW = Date.parse("2026-01-05T12:00:00.000Z");
const seals = (key = KEY, fleet = "foresail/web/web") => FleetSeals.take(fleet, { FORESAIL_FLEET_KEY: key });
const RUN = { startedAt: "2026-01-05T11:00:00.000Z", review: "r".repeat(64) };
const regions = { a: "eu1", b: "us1", c: "us1" };
const gate = { nodesReady: true, command: ["./check"], approval: true, soakSeconds: 600 };

/** Deeper than what JSON.stringify can write. */
const nested = () => "[".repeat(100_000) + "]".repeat(100_000);

const fleetOf = (fields: object = {}): Fleet => {
  const waves = [
    { name: "canary", stacks: ["a", "b"], gate },
    { name: "rest", stacks: ["c"] },
  ];
  const { fleet, issues } = readFleet({ waves, ...fields }, ["a", "b", "c"]);
  assert.deepEqual(issues, []);
  return fleet!;
};
const context = (over: Partial<TrustContext> = {}): TrustContext => ({
  ...{ fleet: fleetOf(), regions, region: "us1", now: NOW },
  ...over,
});

const at = NOW - 700_000;
const part = (name: "nodesReady" | "command", region: string): Statement => ({
  ...{ kind: "part", wave: "canary", part: name, region, at },
});
const ALL: readonly Statement[] = [
  { kind: "done", stack: "a", at },
  { kind: "done", stack: "b", at },
  ...[part("nodesReady", "eu1"), part("nodesReady", "us1"), part("command", "eu1")],
  { kind: "approved", wave: "canary", at },
];

describe("what a worker does for a run", () => {
  it("is a stack of its own checkout and region, after the waves and gates before it", () => {
    assert.equal(stackRefusal("c", ALL, context()), undefined);
    assert.equal(stackRefusal("a", [], context({ region: "eu1" })), undefined);
  });

  for (let left = 0; left < ALL.length; left += 1)
    it(`is nothing without the statement ${JSON.stringify({ ...ALL[left], at: undefined })}`, () => {
      const said = ALL.filter((_, index) => index !== left);
      assert.match(stackRefusal("c", said, context()) ?? "allowed", /no worker|has no approval/);
    });

  const refusals: [string, string, Partial<TrustContext>, readonly Statement[], RegExp][] = [
    ["a stack of another region", "c", { region: "eu1" }, ALL, /has no stack "c" in this region/],
    ["a stack that is not there", "../../x", {}, ALL, /has no stack "?\.\.\/\.\.\/x/],
    [
      "a gate that is checked by another region only",
      "c",
      {},
      ALL.map((one) => ("part" in one ? { ...one, region: "ap1" } : one)),
      /no worker of eu1, us1 has checked/,
    ],
    [
      "a failed stack with onFailure: stop",
      "c",
      {},
      ALL.map((one) =>
        one.kind === "done" && one.stack === "a" ? { ...one, kind: "failed" as const } : one,
      ),
      /no worker has said that it changed a/,
    ],
    [
      "a gate that was checked before a stack of its wave ran again",
      "c",
      {},
      [...ALL, { kind: "done", stack: "b", at: at + 60_000 }],
      /no worker of eu1, us1 has checked the part nodesReady/,
    ],
    [
      "a soak that is not over",
      "c",
      {},
      ALL.map((one) => ({ ...one, at: NOW - 60_000 })),
      /the gate of canary waits until/,
    ],
    [
      "a window that is closed",
      "a",
      {
        region: "eu1",
        fleet: fleetOf({ windows: [{ stacks: ["a"], from: "22:00", to: "23:00", timeZone: "UTC" }] }),
      },
      [],
      /its window, .* is closed/,
    ],
  ];
  for (const [what, stack, over, said, why] of refusals)
    it(`is not ${what}`, () => assert.match(stackRefusal(stack, said, context(over)) ?? "allowed", why));

  it("goes on after a failure where its own fleet.yaml says so", () => {
    const said = ALL.map((one) => (one.kind === "done" ? { ...one, kind: "failed" as const } : one));
    assert.equal(stackRefusal("c", said, context({ fleet: fleetOf({ onFailure: "continue" }) })), undefined);
  });

  it("is not part of a gate that its own fleet.yaml does not have, or before the wave has ended", () => {
    const rows: [object, readonly Statement[], RegExp][] = [
      [{ wave: "canary", part: "url" }, ALL, /has no gate of "canary" with "url"/],
      [{ wave: "canary", part: "soak" }, ALL, /with "soak"/],
      [{ wave: "rest", part: "command" }, ALL, /has no gate of "rest"/],
      [{ wave: "canary", part: "command" }, ALL, /us1 is not a region that checks/],
      [{ wave: "canary", part: "nodesReady" }, [], /no worker has said that it changed a, b/],
    ];
    for (const [input, said, why] of rows)
      assert.match(partRefusal(input as { wave: string; part: string }, said, context()) ?? "allowed", why);
    assert.equal(partRefusal({ wave: "canary", part: "nodesReady" }, ALL, context()), undefined);
  });
});

describe("the seals of a fleet", () => {
  it("need a key that no one can guess, and leave none in the environment", () => {
    for (const key of ["", "short", undefined]) {
      const environment = { FORESAIL_FLEET_KEY: key };
      assert.throws(
        () => FleetSeals.take("f", environment),
        /FORESAIL_FLEET_KEY (is not set|has 5 characters); it needs at least 32/,
      );
    }
    const environment = { FORESAIL_FLEET_KEY: KEY, OTHER: "1" };
    FleetSeals.take("f", environment);
    assert.deepEqual(environment, { OTHER: "1" });
  });

  it("hold for the run, plan, statement and preview that they were made for", () => {
    const run = seals().run(RUN);
    assert.equal(seals().runIssue(run), undefined);
    assert.ok(seals().isPlan(run, "e", "a", seals().plan(RUN, "e", "a", "plan")));
    const sealed = ALL.map((one) => seals().say(RUN, one));
    assert.deepEqual(seals().said(run, sealed), ALL);
    const other = sealed.map(({ statement, seal }) => ({
      statement: Object.fromEntries(Object.entries(statement).reverse()),
      seal,
    }));
    assert.equal(seals().said(run, other).length, ALL.length);
    const outcome = { review: { a: 1 }, plan: "plan" };
    assert.ok(seals().isPreview("n", "a", { ...outcome, seal: seals().preview("n", "a", outcome) }));
  });

  const forged: Readonly<Record<string, unknown>> = {
    nothing: undefined,
    "no seal": RUN,
    "another key": seals("2".repeat(64)).run(RUN),
    "another fleet": seals(KEY, "foresail/web/other").run(RUN),
    "another review": { ...seals().run(RUN), review: "x" },
    "another start": { ...seals().run(RUN), startedAt: "2026-01-05T11:30:00.000Z" },
    "the name of a folder above": seals().run({ ...RUN, startedAt: ".." }),
    "a path": seals().run({ ...RUN, startedAt: "/etc/2026-01-05T11:00:00.000Z" }),
    "a control character": seals().run({ ...RUN, startedAt: "2026-01-05T11:00:00.000Z\n" }),
    "a text": "run",
    "a list of seals": { ...RUN, seal: [seals().run(RUN).seal, "x"] },
  };
  for (const [what, run] of Object.entries(forged))
    it(`accept no run with ${what}`, () => assert.notEqual(seals().runIssue(run), undefined));

  it("accept no plan and no statement of another run, workflow, stack, wave, key or text", () => {
    const run = seals().run(RUN);
    const elsewhere = { ...RUN, startedAt: "2026-01-05T10:00:00.000Z" };
    const plans: unknown[] = [
      ...[undefined, null, {}, "plan", { plan: "plan" }, { plan: 5, seal: "x" }],
      ...[seals().plan(RUN, "e", "b", "plan"), seals().plan(elsewhere, "e", "a", "plan")],
      seals().plan(RUN, "another workflow", "a", "plan"),
      { ...seals().plan(RUN, "e", "a", "plan"), plan: "forged" },
      seals("2".repeat(64)).plan(RUN, "e", "a", "plan"),
    ];
    for (const plan of plans) assert.equal(seals().isPlan(run, "e", "a", plan), false, JSON.stringify(plan));
    const approval: Statement = { kind: "approved", wave: "canary", at };
    const said: unknown[] = [
      ...[undefined, null, {}, "x", { statement: approval }, { statement: null, seal: "" }],
      { ...seals().say(RUN, { ...approval, wave: "rest" }), statement: approval },
      seals("2".repeat(64)).say(RUN, approval),
      seals().say(elsewhere, approval),
      seals().say(RUN, { ...approval, more: 1 } as Statement),
      { ...seals().say(RUN, approval), statement: { ...approval, more: JSON.parse(nested()) as unknown } },
      {
        ...seals().say(RUN, { kind: "failed", stack: "a", at }),
        statement: { kind: "done", stack: "a", at },
      },
    ];
    assert.deepEqual(seals().said(run, said), []);
    assert.deepEqual(seals().said(run, "x"), []);
  });

  it("accept no older preview, and none with another plan or review", () => {
    const outcome = { review: { a: 1 }, plan: "plan" };
    const seal = seals().preview("n", "a", outcome);
    for (const [nonce, stack, found] of [
      ["m", "a", outcome],
      ["n", "b", outcome],
      ["n", "a", { ...outcome, plan: "forged" }],
      ["n", "a", { review: { a: 2 }, plan: "plan" }],
      ["n", "a", { review: { a: 1 } }],
    ] as const)
      assert.equal(seals().isPreview(nonce, stack, { ...found, seal }), false);
  });

  it("are for one run as the type says", () => {
    const run: RunIdentity = seals().run(RUN);
    assert.match(run.seal, /^[0-9a-f]{64}$/);
  });
});
