import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { assertKnownSteps } from "../../../support/steps";
import { findDangers } from "../../../../cli/review/dangers";
import { readPreview, NotAPreviewError } from "../../../../cli/review/preview";
import { formatViolation } from "../../../../lib/text/policy-violation";
import { nodeGroupSteps } from "../../../../providers/kubeadm/plan/steps";

const sample = (name: string) =>
  readFileSync(path.resolve(__dirname, "../../../../../test/unit/cli/review/samples", name), "utf8");

describe("a preview as the engine prints it", () => {
  it("of a first up is read", () => {
    const { stack, project, changes, errors } = readPreview(sample("first-up.json"));
    assert.deepEqual({ stack, project, errors }, { stack: "test", project: "foresail", errors: [] });
    const workers = changes.find(({ name }) => name === "test-workers");
    assert.deepEqual([workers?.type, workers?.operation], ["NodeGroup", "create"]);
    assert.deepEqual(workers?.steps, ["unknown until the cluster exists; wanted: w-1"]);
    assert.equal(workers !== undefined && "__provider" in workers.inputs, false);
  });

  it("of an added and a removed worker gives new steps, never those of the state", () => {
    const { changes, unchanged, notes } = readPreview(sample("scale.json"));
    const steps = changes.flatMap((change) => change.steps);
    assert.deepEqual(steps, [
      "w-2: join as worker of workers, wait until Ready",
      "w-1: cordon, drain, kubeadm reset, delete its Node",
    ]);
    assert.equal(unchanged, 6);
    assert.deepEqual(notes, []);
    const removed = changes.filter(({ operation }) => operation === "delete").map(({ name }) => name);
    assert.deepEqual(removed, ["test-w-1-prepare"]);
  });

  for (const name of ["first-up.json", "scale.json"])
    it(`has only known lines: ${name}`, () => {
      const { changes } = readPreview(sample(name));
      assert.notDeepEqual(
        changes.flatMap(({ steps }) => steps),
        [],
      );
      for (const { type, steps } of changes) assertKnownSteps(type, steps);
    });

  it("that a handler refused contains its message once", () => {
    const { errors } = readPreview(sample("refused.json"));
    assert.equal(errors.length, 1);
    assert.match(errors[0]!, /^Pulumi\.test\.yaml has 1 mistake; nothing was changed:/);
  });

  it("distinguishes a resource's refusal from an error of the program", () => {
    const isRefused = (urn?: string) =>
      readPreview(
        JSON.stringify({ diagnostics: [{ ...(urn && { urn }), message: "error: no", severity: "error" }] }),
      ).isRefused;
    assert.equal(
      isRefused("urn:pulumi:s::p::t:C$pulumi-nodejs:dynamic/foresail:NodeRollout::onprem-rollout"),
      true,
    );
    assert.equal(isRefused("urn:pulumi:s::p::pulumi:pulumi:Stack::p-s"), false);
    assert.equal(isRefused(), false);
    assert.equal(readPreview(sample("refused.json")).isRefused, false);
  });

  it("contains remarks of the resources, and neither their steps nor others' messages", () => {
    const info = (message: string) => ({ message: `${message}\n\n`, severity: "info" });
    const text = JSON.stringify({
      steps: [
        { op: "update", urn: "urn:pulumi:s::p::t:t:T::n", newState: { inputs: { steps: ["w-1: join"] } } },
      ],
      diagnostics: [
        info("NodeGroup workers: w-1: join"),
        info("NodeRollout onprem: w-2 is paused: it stays at 1.35.4"),
        info("NodeRollout onprem: w-2 is paused: it stays at 1.35.4"),
        info("downloading something"),
      ],
    });
    assert.deepEqual(readPreview(text).notes, ["NodeRollout onprem: w-2 is paused: it stays at 1.35.4"]);
  });

  it("refuses by violated policies instead of the engine's summary, and remarks advisory ones", () => {
    const violation = (rule: string, isMandatory: boolean) => ({
      message: `${formatViolation({ rule, resource: "T n", problem: "bad", fix: "repair", isMandatory })}\n\n`,
      severity: "info#err",
    });
    const failed = { message: "error: preview failed\n", severity: "error" };
    const read = (...diagnostics: object[]) => readPreview(JSON.stringify({ diagnostics }));
    const refused = read(violation("a", true), violation("b", false), failed);
    assert.deepEqual(
      [refused.errors, refused.notes, refused.isRefused],
      [["policy a: T n: bad; repair"], ["policy b: T n: bad; repair"], true],
    );
    assert.deepEqual(read(violation("b", false), failed).errors, ["preview failed"]);
    assert.equal(read(violation("b", false)).isRefused, false);
  });

  it("with the parts of a replacement is one replacement", () => {
    const part = (op: string, inputs?: object) => ({
      op,
      urn: "urn:pulumi:s::p::t:t:T::n",
      newState: { inputs },
    });
    const text = JSON.stringify({
      steps: [
        part("delete-replaced"),
        { ...part("replace", { size: 2, steps: ["a: b"] }), replaceReasons: ["size"] },
        part("create-replacement", { size: 2, steps: ["a: b"] }),
      ],
    });
    const { changes } = readPreview(text);
    assert.equal(changes.length, 1);
    assert.deepEqual(
      [changes[0]?.operation, changes[0]?.steps, changes[0]?.inputs, changes[0]?.replaceReasons],
      ["replace", ["a: b"], { size: 2 }, ["size"]],
    );
    assert.deepEqual(
      findDangers(readPreview(text)).map(({ words }) => words),
      ["T n is deleted and created again, for a changed size", "a: b"],
    );
  });

  it("that deletes a VM lists it among the dangers, and one that creates a VM does not", () => {
    const step = (inputs: object) => ({
      op: "update",
      urn: "urn:pulumi:s::p::pulumi-nodejs:dynamic/foresail:TumblebugMcis::k1-machines",
      newState: { inputs },
    });
    const steps = [
      "w-2: delete its VM w-2-1, which never came up (Failed)",
      "w-3: create its VM in aws (t3, ubuntu)",
    ];
    const dangers = findDangers(readPreview(JSON.stringify({ steps: [step({ steps })] })));
    assert.deepEqual(
      dangers.map(({ kind, words }) => [kind, words]),
      [["deleted", steps[0]]],
    );
  });

  it("that removes a taint says so among the dangers, and not one that adds one or removes a label", () => {
    const urn = "urn:pulumi:s::p::pulumi-nodejs:dynamic/foresail:NodeGroup::k1-workers";
    const changes = (what: "label" | "taint", removed?: true) => [
      { what, setting: "example.com/quarantine", ...(removed ? { removed } : {}) },
    ];
    const steps = [changes("taint", true), changes("taint"), changes("label", true)].map((changed, index) =>
      nodeGroupSteps.format({ kind: "settings", machine: `w-${index}`, changes: changed }),
    );
    const found = findDangers(
      readPreview(JSON.stringify({ steps: [{ op: "update", urn, newState: { inputs: { steps } } }] })),
    );
    assert.deepEqual(
      found.map(({ kind, words }) => [kind, words]),
      [["taint removed", steps[0]]],
    );
  });

  it("that has a line of an unknown kind lists it among the dangers", () => {
    const urn = "urn:pulumi:s::p::pulumi-nodejs:dynamic/foresail:NodeGroup::k1-workers";
    const steps = ["w-1: join as worker of workers, wait until Ready", "w-2: a step of another release"];
    const found = findDangers(
      readPreview(JSON.stringify({ steps: [{ op: "update", urn, newState: { inputs: { steps } } }] })),
    );
    assert.deepEqual(found, [{ kind: "unknown step", resource: "NodeGroup k1-workers", words: steps[1] }]);
  });

  for (const text of ["", "{", "[]", "null", "{}", '{"steps":{}}', '{"steps":[{"op":"create"}]}'])
    it(`is not ${JSON.stringify(text)}`, () => assert.throws(() => readPreview(text), NotAPreviewError));
});
