import assert from "node:assert/strict";
import Ajv from "ajv";
import { choosesByLabel, namedStacks, readFleet } from "../../../../cli/fleet/plan/fleet";
import { matchesPattern } from "../../../../lib/text/pattern";
import { windowOf } from "../../../../cli/fleet/plan/window";
import { nodesIssue } from "../../../../cli/fleet/plan/systems";
import { fleetJsonSchema } from "../../../../scripts/configuration-schema";
import { formatPath } from "../../../../lib/validation/validation-issue";

const STACKS = ["dev", "prod-ap1", "prod-eu1", "prod-eu2"];
const issuesOf = (value: unknown) =>
  readFleet(value, STACKS).issues.map(({ path, message }) => `${formatPath(path)}: ${message}`);

describe("fleet.yaml", () => {
  it("finds stacks by name and pattern; a pattern leaves what is named elsewhere", () => {
    const { fleet } = readFleet(
      {
        waves: [
          { name: "all", stacks: ["prod-*"] },
          { name: "last", stacks: ["prod-eu2"] },
        ],
      },
      STACKS,
    );
    assert.deepEqual(
      fleet?.waves.map(({ stacks }) => stacks),
      [["prod-ap1", "prod-eu1"], ["prod-eu2"]],
    );
    assert.deepEqual([fleet.maxParallel, fleet.onFailure], [2, "stop"]);
  });

  it("finds stacks by labels, beside those with names; a stack that is named belongs where it is named", () => {
    const labels = {
      "prod-ap1": { stage: "canary", region: "ap" },
      "prod-eu1": { stage: "canary", region: "eu" },
      "prod-eu2": { region: "eu" },
    };
    const waves = [
      { name: "canary", labels: { stage: "canary", region: "eu" } },
      { name: "canaries", labels: { stage: "canary" }, stacks: ["dev"] },
      { name: "rest", stacks: ["*"] },
    ];
    const stacksOf = (value: unknown) =>
      readFleet(value, STACKS, labels).fleet?.waves.map(({ stacks }) => stacks);
    assert.deepEqual(stacksOf({ waves }), [["prod-eu1"], ["dev", "prod-ap1"], ["prod-eu2"]]);
    const named = [...waves.slice(0, 1), { name: "late", stacks: ["prod-eu2", "prod-ap1"] }];
    assert.deepEqual(stacksOf({ waves: [{ name: "eu", labels: { region: "eu" } }, named[1]] }), [
      ["prod-eu1"],
      ["prod-eu2", "prod-ap1"],
    ]);
    assert.equal(choosesByLabel({ waves }), true);
    assert.equal(choosesByLabel({ waves: [waves[2]] }), false);
    assert.equal(choosesByLabel({ waves: 1 }), false);
  });

  it("finds the windows of stacks by name, pattern and label, whatever waves they are in", () => {
    const night = { from: "22:00", to: "04:00" };
    const waves = [
      { name: "canary", stacks: ["prod-eu1", "dev"] },
      { name: "rest", stacks: ["prod-*"], window: { ...night, timeZone: "UTC" } },
    ];
    const windows = [
      { stacks: ["prod-eu*"], ...night, timeZone: "Europe/Berlin" },
      { labels: { region: "ap" }, ...night, timeZone: "Asia/Tokyo", outside: "wait" },
    ];
    const { fleet, issues } = readFleet({ waves, windows }, STACKS, { "prod-ap1": { region: "ap" } });
    assert.deepEqual(issues, []);
    const berlin = { ...night, timeZone: "Europe/Berlin", outside: "stop" };
    assert.deepEqual(
      fleet?.waves.map(({ windows }) => windows),
      [
        { "prod-eu1": berlin },
        { "prod-ap1": { ...night, timeZone: "Asia/Tokyo", outside: "wait" }, "prod-eu2": berlin },
      ],
    );
    assert.equal(windowOf(fleet.waves[1]!, "prod-eu2")?.timeZone, "Europe/Berlin");
    assert.equal(windowOf(fleet.waves[1]!, "constructor")?.timeZone, "UTC");
    assert.equal(windowOf(fleet.waves[0]!, "dev"), undefined);
    assert.equal("windows" in fleet, false);
    assert.equal(choosesByLabel({ waves, windows }), true);
    // the waves name all stacks, so that no list of stacks is needed
    assert.deepEqual(namedStacks({ waves: [waves[0]], windows }), ["prod-eu1", "dev"]);
  });

  const wave = (fields: object) => ({ waves: [{ name: "a", stacks: ["dev"], ...fields }] });
  const window = { from: "22:00", to: "04:00", timeZone: "Europe/Berlin" };
  const refused: [what: string, value: unknown, said: RegExp][] = [
    ["an empty file", null, /^waves: is missing; write a list$/],
    [
      "an unknown field",
      { waves: [{ name: "a", stacks: ["dev"] }], wave: 1 },
      /^wave: is not known; did you mean "waves"\?$/,
    ],
    [
      "a stack that does not exist",
      { waves: [{ name: "a", stacks: ["prod-eu3"] }] },
      /^waves\[0\]\.stacks\[0\]: there is no stack "prod-eu3"; did you mean "prod-eu1"\?$/,
    ],
    [
      "a pattern without a match",
      { waves: [{ name: "a", stacks: ["test-*"] }] },
      /^waves\[0\]\.stacks\[0\]: "test-\*" matches no stack/,
    ],
    [
      "a stack in two waves",
      {
        waves: [
          { name: "a", stacks: ["dev"] },
          { name: "b", stacks: ["dev"] },
        ],
      },
      /^waves\[1\]\.stacks\[0\]: "dev" is in the wave a, too; remove one$/,
    ],
    [
      "two waves of a name",
      {
        waves: [
          { name: "a", stacks: ["dev"] },
          { name: "a", stacks: ["prod-*"] },
        ],
      },
      /^waves\[1\]\.name: "a" is listed twice/,
    ],
    [
      "labels that no stack has",
      { waves: [{ name: "a", labels: { stage: "canary" } }] },
      /^waves\[0\]\.labels: match no stack that no other wave has; correct them, .*`foresail:labels`/,
    ],
    [
      "empty labels",
      wave({ labels: {} }),
      /^waves\[0\]\.labels: is empty; write a label, such as stage: canary$/,
    ],
    [
      "a label that is not a text",
      wave({ labels: { canary: true } }),
      /^waves\[0\]\.labels\.canary: is true, not a text; put it in quotes: "true"$/,
    ],
    [
      "a wave that chooses no stacks",
      { waves: [{ name: "a" }] },
      /^waves\[0\]: chooses no stacks; write `stacks` or `labels`$/,
    ],
    [
      "a URL of another scheme",
      wave({ gate: { url: "ftp://example.com/" } }),
      /^waves\[0\]\.gate\.url: "ftp:\/\/example\.com\/" is not an https or http URL; /,
    ],
    [
      "a URL with a password, without repeating it",
      wave({ gate: { url: "https://me:hunter2@example.com/" } }),
      /^waves\[0\]\.gate\.url: contains a user or password, [^2]*$/,
    ],
    [
      "a time without leading zero",
      wave({ window: { ...window, from: "9:00" } }),
      /^waves\[0\]\.window\.from: write hours and minutes in quotes, from "00:00" to "23:59"$/,
    ],
    [
      "a time that YAML read as a number",
      wave({ window: { ...window, to: 240 } }),
      /^waves\[0\]\.window\.to: .*put it in quotes$/,
    ],
    [
      "an unknown time zone",
      wave({ window: { ...window, timeZone: "Berlin" } }),
      /^waves\[0\]\.window\.timeZone: is not a time zone; write its IANA name, such as "Europe\/Berlin" or "UTC"$/,
    ],
    [
      "an unknown day",
      wave({ window: { ...window, days: ["monday"] } }),
      /^waves\[0\]\.window\.days\[0\]: is the text "monday"; write one of "mon", /,
    ],
    [
      "a window without a time zone",
      { ...wave({}), windows: [{ stacks: ["dev"], from: "22:00", to: "04:00" }] },
      /^windows\[0\]\.timeZone: is missing; /,
    ],
    [
      "a window of a stack in no wave",
      { ...wave({}), windows: [{ ...window, stacks: ["prod-eu1"] }] },
      /^windows\[0\]\.stacks\[0\]: "prod-eu1" is in no wave; remove it$/,
    ],
    [
      "a window of a stack that does not exist",
      { ...wave({}), windows: [{ ...window, stacks: ["def"] }] },
      /^windows\[0\]\.stacks\[0\]: there is no stack "def"; did you mean "dev"\?$/,
    ],
    [
      "two windows of a stack",
      {
        ...wave({}),
        windows: [
          { ...window, stacks: ["dev"] },
          { ...window, stacks: ["dev"] },
        ],
      },
      /^windows\[1\]\.stacks\[0\]: "dev" has the window windows\[0\], too; remove one$/,
    ],
    [
      "a window whose labels no stack of the waves has",
      { ...wave({}), windows: [{ ...window, labels: { region: "us" } }] },
      /^windows\[0\]\.labels: match no stack of the waves that has no other window; /,
    ],
    [
      "a window of no stacks",
      { ...wave({}), windows: [window] },
      /^windows\[0\]: chooses no stacks; write `stacks` or `labels`$/,
    ],
    [
      "a stack of a wave that does not exist, without an issue of its window",
      { ...wave({ stacks: ["deb"] }), windows: [{ ...window, stacks: ["deb"] }] },
      /^waves\[0\]\.stacks\[0\]: there is no stack "deb"/,
    ],
    [
      "a command without a shell in one text",
      { waves: [{ name: "a", stacks: ["dev"], gate: { command: "true" } }] },
      /^waves\[0\]\.gate\.command: is the text "true"; write a list$/,
    ],
  ];
  for (const [what, value, said] of refused)
    it(`refuses ${what}`, () => {
      const [line = "", ...others] = issuesOf(value);
      assert.match(line, said);
      assert.deepEqual(others, []);
    });

  it("refuses a gate for Ready nodes after a stack without a kubeconfig of one cluster", () => {
    const configurations: Record<string, Record<string, unknown>> = {
      dev: { system: "collector" },
      "prod-ap1": { system: "azimuth", azimuth: { waitForMachines: true } },
      "prod-eu1": { system: "azimuth", azimuth: {} },
      "prod-eu2": { system: "machine-pool" },
    };
    const issues = (stacks: readonly string[], gate: object) =>
      readFleet({ waves: [{ name: "a", stacks, gate }] }, STACKS, {}, (stack) =>
        nodesIssue((key) => configurations[stack]?.[key]),
      ).issues.map(({ path, message }) => `${formatPath(path)}: ${message.split(";")[0]}`);
    const at = "waves[0].gate.nodesReady";
    assert.deepEqual(issues(STACKS, { nodesReady: true }), [
      `${at}: dev is a collector, which has no nodes of its own`,
      `${at}: prod-eu1 has no output kubeconfig without azimuth.waitForMachines: true`,
      `${at}: prod-eu2 is a machine pool, whose stack has no output kubeconfig`,
    ]);
    assert.deepEqual(issues(STACKS, { soakSeconds: 1 }), []);
    assert.deepEqual(issues(["prod-ap1"], { nodesReady: true }), []);
    assert.equal(
      nodesIssue(() => undefined),
      undefined,
    );
  });

  it("names its stacks without a list of those that exist, unless it chooses by pattern or label", () => {
    const named = (...waves: object[]) =>
      namedStacks({ waves: waves.map((wave, at) => ({ name: `w${at}`, ...wave })) });
    assert.deepEqual(named({ stacks: ["b", "a"] }, { stacks: ["c"] }), ["b", "a", "c"]);
    assert.equal(named({ stacks: ["a"] }, { stacks: ["p*"] }), undefined);
    assert.equal(named({ stacks: ["a"], labels: { stage: "x" } }), undefined);
    assert.equal(namedStacks({ waves: 1 }), undefined);
  });

  it("matches patterns from end to end", () => {
    for (const [name, pattern, expected] of [
      ["prod-eu1", "prod-*", true],
      ["prod-eu1", "*eu*", true],
      ["prod-eu1", "prod", false],
      ["a", "a*a", false],
      ["aa", "a*a", true],
      ["abcbc", "a*bc", true],
      ["x.y", "x*y", true],
      ["xay", "x.y", false],
    ] as const)
      assert.equal(matchesPattern(name, pattern), expected, `${name} ${pattern}`);
  });

  it("has a schema for editors", () => {
    const validate = new Ajv().compile(fleetJsonSchema());
    assert.equal(validate({ waves: [{ name: "a", stacks: ["dev"], gate: { soakSeconds: 5 } }] }), true);
    assert.equal(validate({ waves: [{ name: "a", stacks: [] }] }), false);
    assert.equal(validate({ waves: [{ name: "a", stacks: ["dev"], gaet: {} }] }), false);
  });
});
