import assert from "node:assert/strict";
import { observePool } from "../../../../providers/machine-pool/plan/observed";
import {
  errorConditions,
  falseConditions,
  LastingErrors,
} from "../../../../providers/machine-pool/plan/troubles";
import { withoutIds } from "../../../../lib/text/identifiers";
import { waitFor } from "../../../../lib/wait";

const refused = (id: string, severity = "Error") => ({
  type: "LaunchTemplateReady",
  status: "False",
  severity,
  reason: "CreateFailed",
  message: `InvalidAMIID.Malformed, status code: 400, request id: ${id}`,
});
const UUIDS = ["2f4c9a1e-8f0b-4d5e-9a77-0c1d2e3f4a5b", "9b8a7c6d-1e2f-4a3b-8c9d-e0f1a2b3c4d5"];

describe("conditions of severity Error", () => {
  const pool = observePool({ metadata: { name: "p" } });
  const around = (severity?: string) => ({
    infrastructure: {
      name: "AWSMachinePool p",
      object: { status: { deprecated: { v1beta1: { conditions: [refused("1", severity)] } } } } as object,
    },
  });

  it("are found where v1beta2 keeps them, and those of less severity are not", () => {
    assert.deepEqual(errorConditions(pool, around()), [
      "AWSMachinePool p: LaunchTemplateReady is False (CreateFailed: InvalidAMIID.Malformed, status code: 400, request id: 1)",
    ]);
    assert.deepEqual(errorConditions(pool, around("Warning")), []);
  });

  it("are not looked for in conditions that are False while all is well, and are one line", () => {
    const conditions = [
      { type: "Paused", status: "False", reason: "NotPaused" },
      { type: "ScalingUp", status: "False", reason: "NotScalingUp" },
      { type: "Ready", status: "False", reason: "NotReady", message: "* Bootstrap:\n  * no such token\n" },
    ];
    assert.deepEqual(falseConditions({ name: "DockerMachine w", conditions }), [
      "DockerMachine w: Ready is False (NotReady: * Bootstrap: * no such token)",
    ]);
  });

  it("last although the id of the request changes, and not when they were away", () => {
    const errors = new LastingErrors();
    const [one = "", other = ""] = UUIDS.map((id) => refused(id).message);
    assert.deepEqual(errors.seen([one], 100, 30), { again: 30 });
    assert.deepEqual(errors.seen([other], 120, 30), { again: 10 });
    assert.deepEqual(errors.seen([one], 130, 30), { lasting: one });
    assert.deepEqual(errors.seen([], 131, 30), {});
    assert.deepEqual(errors.seen([one], 161, 30), { again: 30 });
  });
});

describe("a message that is said again", () => {
  it("is the same without its ids, and another one is not", () => {
    const same = [
      UUIDS.map((id) => `failed, RequestID: ${id}`),
      ["A1B2", "C3D4"].map((id) => `denied (request id: "${id}")`),
      ["07", "08"].map((second) => `at 2026-11-26T20:00:${second}Z: no quota`),
      ["x", "y"].map((letter) => `Encoded authorization failure message: ${`${letter}9/`.repeat(80)}`),
    ];
    for (const [one = "", other = ""] of same) assert.equal(withoutIds(one), withoutIds(other));
    assert.notEqual(withoutIds("2 of 3 machines"), withoutIds("1 of 3 machines"));
    assert.notEqual(withoutIds("no node for aws:///eu-1a/i-01"), withoutIds("no node for aws:///eu-1a/i-02"));
  });

  it("is one line of a wait, whose end has the last one", async () => {
    const lines: string[] = [];
    let calls = 0;
    const waits = waitFor({
      what: "a pool",
      seconds: 0.3,
      firstPauseMilliseconds: 5,
      longestPauseMilliseconds: 5,
      progress: (line) => lines.push(line),
      probe: () => Promise.resolve({ pending: refused(UUIDS[calls++ % 2] ?? "").message }),
    });
    await assert.rejects(waits, /last seen: InvalidAMIID.Malformed/);
    assert.ok(calls > 3, "it should have probed several times");
    assert.equal(lines.length, 1, lines.join("\n"));
  });
});
