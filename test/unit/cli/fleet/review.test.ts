import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readReview, stackReview, writeReview } from "../../../../cli/fleet/review/review";
import { fleetReport } from "../../../../cli/fleet/commands/report";
import { addToHistory, readHistory } from "../../../../cli/fleet/run/run-file";
import { UsageError } from "../../../../cli/terminal/exit-codes";
import { fleetReviewOf } from "./reviews";

const urn = (type: string, name: string) => `urn:pulumi:eu1::foresail::${type}::${name}`;
const rollout = "pulumi-nodejs:dynamic/foresail:NodeRollout";
const machines = [{ name: "cp-1", role: "control-plane", group: "control-plane", labels: {} }];
const step = "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)";
const of = (version: string) => ({ specification: { version }, machines });
const noted = (line: string) => ({ severity: "info", message: `NodeRollout eu-rollout: ${line}\n` });
const JSON_OF_ENGINE = JSON.stringify({
  steps: [
    { op: "same", urn: urn("foresail:kubeadm:KubeadmCluster", "eu"), newState: {} },
    {
      op: "update",
      urn: urn(rollout, "eu-rollout"),
      oldState: { inputs: of("1.35.4") },
      newState: { inputs: { ...of("1.36.3"), steps: [step] } },
    },
  ],
  diagnostics: [
    noted("diff 2 | --- /etc/motd"),
    noted("diff 1 | cp-1:"),
    noted("diff 3 | +++ /etc/motd"),
    noted("diff 4 |  cp-2:"),
    noted("diff 5 | +b"),
    noted("w-2 is paused: it stays at 1.35.4"),
  ],
  changeSummary: { same: 1, update: 1 },
});

describe("the review of a fleet", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "foresail-review-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it("of a stack has its plan, version, dangers, machines with their steps, and diffs of files", () => {
    const review = stackReview(JSON_OF_ENGINE, "the plan");
    assert.match(review.plan ?? "", /^[0-9a-f]{64}$/);
    assert.deepEqual(review.version, { from: "1.35.4", to: "1.36.3" });
    assert.equal(review.system, "ssh");
    assert.deepEqual(review.dangers, [{ kind: "control plane", words: step }]);
    assert.deepEqual(review.machines[0]?.steps, [step]);
    assert.deepEqual(review.notes, ["NodeRollout eu-rollout: w-2 is paused: it stays at 1.35.4"]);
    assert.deepEqual(review.diffs, [
      { nodes: "cp-1", lines: ["--- /etc/motd", "+++ /etc/motd", " cp-2:", "+b"] },
    ]);
  });

  it("is refused when it is missing or damaged, or a plan beside it is another one", async () => {
    await assert.rejects(
      readReview(folder),
      /can't read the preview .*preview again: foresail fleet preview/,
    );
    const { formatVersion: _, ...review } = fleetReviewOf({
      all: { "eu/1": stackReview(JSON_OF_ENGINE, "the plan") },
    });
    await writeReview(folder, review);
    await assert.rejects(readReview(folder), /the plan of eu\/1 in .* is not the one of this preview/);
    writeFileSync(path.join(folder, "eu%2F1.json"), "the plan");
    assert.deepEqual((await readReview(folder)).stacks, review.stacks);
    writeFileSync(path.join(folder, "eu%2F1.json"), "another plan");
    await assert.rejects(readReview(folder), /is not the one of this preview; preview again/);
    writeFileSync(path.join(folder, "@fleet.json"), '{"formatVersion": 2}');
    await assert.rejects(readReview(folder), /damaged, or another release/);
  });

  it("is printed as Markdown or JSON, and one of them has to be chosen", async () => {
    const { formatVersion: _, ...review } = fleetReviewOf({ all: { eu1: stackReview(JSON_OF_ENGINE, "p") } });
    await writeReview(folder, review);
    writeFileSync(path.join(folder, "eu1.json"), "p");
    let printed = "";
    const write = (text: string) => void (printed += text);
    await assert.rejects(fleetReport({ folder }, write), UsageError);
    assert.equal(printed, "");
    await fleetReport({ folder, form: "json" }, write);
    assert.deepEqual((JSON.parse(printed) as typeof review).stacks, review.stacks);
    printed = "";
    await fleetReport({ folder, form: "markdown" }, write);
    assert.match(printed, /^### foresail: changes in 1 of 1 stack$/m);
  });

  it("has estimates from the last ten runs of each stack, and none from a damaged file", async () => {
    const project = { folder, name: "foresail" };
    mkdirSync(path.join(folder, ".foresail", "fleet"), { recursive: true });
    assert.deepEqual(await readHistory(project), {});
    for (let seconds = 1; seconds <= 12; seconds += 1)
      await addToHistory(project, { eu1: [{ seconds, steps: 2 }] });
    await addToHistory(project, { us1: [{ seconds: 5, steps: 0 }] });
    const { eu1, us1 } = await readHistory(project);
    assert.deepEqual(
      eu1?.map(({ seconds }) => seconds),
      [3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    );
    assert.deepEqual(us1, [{ seconds: 5, steps: 0 }]);
    writeFileSync(path.join(folder, ".foresail", "fleet", "history.json"), '{"eu1": 3}');
    assert.deepEqual(await readHistory(project), {});
  });
});
