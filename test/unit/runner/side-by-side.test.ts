import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { summarizeRun, type TierOutcome } from "../../counting";
import { LANE_VARIABLE } from "../../lane";
import type { MochaRun } from "../../mocha-process";
import { combineOutcomes, runSideBySide } from "../../side-by-side";

const FILES = ["a", "b", "c", "d"].map((name) =>
  path.resolve(__dirname, "..", "..", "engine", `${name}.test.js`),
);
const result = { passed: 1, failures: [], pending: [] };

describe("test files that run side by side", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "foresail-side-by-side-"))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const runOf = (signal = new AbortController().signal) => ({
    tier: "engine",
    files: FILES,
    timeoutMilliseconds: 1_000,
    limitSeconds: 60,
    environment: {},
    listing: path.join(folder, "engine.log"),
    signal,
    processes: 2,
  });

  /** A process that prints its file's name; the first takes longer than two others, where there are any. */
  function processes(count = FILES.length) {
    const begun: string[] = [];
    let running = 0;
    let most = 0;
    const others: (() => void)[] = [];
    const lanes = new Set<string | undefined>();
    const perform = async ({ name = "", listing = "", environment }: MochaRun): Promise<TierOutcome> => {
      begun.push(name);
      lanes.add(environment[LANE_VARIABLE]);
      running += 1;
      most = Math.max(most, running);
      if (begun.length === 1 && count > 1) await new Promise<void>((resolve) => others.push(resolve));
      if (begun.length === 3) others.forEach((go) => go());
      mkdirSync(path.dirname(listing), { recursive: true });
      writeFileSync(listing, `printed by ${name}\n`);
      running -= 1;
      return { tier: "engine", result };
    };
    return { perform, begun, lanes, most: () => most };
  }

  it("run each once, in their order, as many at a time as allowed, and are shown when they have ended", async () => {
    const { perform, begun, lanes, most } = processes();
    const outcome = await runSideBySide(runOf(), perform);
    assert.deepEqual(begun, ["engine-a", "engine-b", "engine-c", "engine-d"]);
    assert.equal(most(), 2);
    assert.deepEqual([...lanes].sort(), ["1", "2"]);
    assert.deepEqual(outcome, { tier: "engine", result: { ...result, passed: 4 } });
    const shown = readFileSync(path.join(folder, "engine.log"), "utf8");
    assert.deepEqual([...shown.matchAll(/printed by engine-(\w)/g)].map(([, name]) => name).sort(), [
      "a",
      "b",
      "c",
      "d",
    ]);
    assert.match(shown, /^engine\/b, \d+ s\nprinted by engine-b$/m);
  });

  it("are dealt into shares, neighbors apart, and none is empty", async () => {
    const dealt = new Map<string, readonly string[]>();
    const perform = ({ name = "", files, listing = "" }: MochaRun): Promise<TierOutcome> => {
      dealt.set(
        name,
        files.map((file) => path.basename(file, ".test.js")),
      );
      mkdirSync(path.dirname(listing), { recursive: true });
      writeFileSync(listing, "");
      return Promise.resolve({ tier: "engine", result });
    };
    await runSideBySide({ ...runOf(), shares: 3 }, perform);
    assert.deepEqual(
      [...dealt],
      [
        ["engine-1-of-3", ["a", "d"]],
        ["engine-2-of-3", ["b"]],
        ["engine-3-of-3", ["c"]],
      ],
    );
    dealt.clear();
    await runSideBySide({ ...runOf(), shares: 5 }, perform);
    assert.equal(dealt.size, 4);
  });

  it("begin no more after an interrupt, which is not success", async () => {
    const interrupt = new AbortController();
    const { perform, begun } = processes(1);
    const outcome = await runSideBySide(runOf(interrupt.signal), (run) => {
      interrupt.abort();
      return perform({ ...run, name: "the only one" });
    });
    assert.deepEqual(begun, ["the only one"]);
    assert.match(outcome.breakage ?? "", /^engine\/b: interrupted before it began/);
  });

  /** Processes whose tests fail in the given files: the first time only, or always. */
  function failing(files: readonly string[], isLasting = false) {
    const begun: string[] = [];
    const perform = ({ name = "", listing = "" }: MochaRun): Promise<TierOutcome> => {
      const isAgain = begun.includes(name);
      begun.push(name);
      mkdirSync(path.dirname(listing), { recursive: true });
      writeFileSync(listing, "");
      const isFailing = files.includes(name) && (isLasting || !isAgain);
      const failures = [{ title: `in ${name}`, error: "Error: 1 !== 2" }];
      return Promise.resolve({ tier: "engine", result: isFailing ? { ...result, failures } : result });
    };
    return { perform, begun };
  }

  it("run again by themselves when tests in them failed, which is a success that is reported", async () => {
    const { perform, begun } = failing(["engine-b"]);
    const outcome = await runSideBySide(runOf(), perform);
    assert.deepEqual(begun.slice(4), ["engine-b"]);
    const unstable = [{ title: "in engine-b", error: "Error: 1 !== 2" }];
    assert.deepEqual(outcome, { tier: "engine", result: { ...result, passed: 4, unstable } });
    assert.deepEqual(summarizeRun([outcome]).lines, [
      "passed only when run again: engine: in engine-b: Error: 1 !== 2",
      "4 passed, 0 failed",
    ]);
  });

  it("fail when the same tests fail again", async () => {
    const { perform, begun } = failing(["engine-b"], true);
    const { result: found } = await runSideBySide(runOf(), perform);
    assert.deepEqual(begun.slice(4), ["engine-b"]);
    assert.deepEqual([found?.failures.length, found?.unstable], [1, undefined]);
  });

  it("do not run again when many fail, or when a process broke", async () => {
    const many = failing(["engine-a", "engine-b", "engine-c", "engine-d"]);
    assert.equal((await runSideBySide(runOf(), many.perform)).result?.failures.length, 4);
    assert.equal(many.begun.length, 4);
    const { perform, begun } = failing(["engine-b"]);
    const broken = async (run: MochaRun) => ({ ...(await perform(run)), breakage: "it hung" });
    assert.match((await runSideBySide(runOf(), broken)).breakage ?? "", /engine\/b: it hung/);
    assert.equal(begun.length, 4);
  });

  it("are counted together, and what broke is said with its file", () => {
    const pending = [{ title: "one", reason: "none" }];
    const failures = [{ title: "two", error: "Error: 1 !== 2" }];
    assert.deepEqual(
      combineOutcomes("engine", [
        { name: "engine/a", outcome: { tier: "engine", result: { passed: 2, failures, pending } } },
        { name: "engine/b", outcome: { tier: "engine", breakage: "it hung" } },
        { name: "engine/c", outcome: { tier: "engine", result, breakage: "it left something running" } },
      ]),
      {
        tier: "engine",
        result: { passed: 3, failures, pending },
        breakage: "engine/b: it hung; engine/c: it left something running",
      },
    );
  });
});
