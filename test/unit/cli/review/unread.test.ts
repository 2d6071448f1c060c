import assert from "node:assert/strict";
import { findDangers } from "../../../../cli/review/dangers";
import { compareReview } from "../../../../cli/review/compare";
import { renderSummary } from "../../../../cli/review/markdown";
import { countSteps } from "../../../../cli/review/steps";
import { renderText } from "../../../../cli/review/text";
import { stepsOfUnread } from "../../../../lib/steps/steps";
import {
  clusterInitSteps,
  nodeGroupSteps,
  type NodeGroupStep,
} from "../../../../providers/kubeadm/plan/steps";
import { change, previewOf } from "./changes";

const WHY = "from the recorded state, since the cluster could not be read: no answer";

describe("what a preview could not read", () => {
  const unread = nodeGroupSteps.format({ kind: "unread", machine: "w-1", what: "its labels" });

  it("is listed for each recorded machine without a step, after the reason and the steps", () => {
    const args = { why: "no answer", recorded: ["w-1", "w-2"], what: "its labels" };
    const step: NodeGroupStep = { kind: "lose", machine: "w-2" };
    const lines = (over: Partial<Parameters<typeof stepsOfUnread<NodeGroupStep>>[0]>) =>
      stepsOfUnread<NodeGroupStep>({ ...args, steps: [step], ...over }).map(nodeGroupSteps.format);
    const lost = nodeGroupSteps.format(step);
    assert.deepEqual(lines({}), [WHY, lost, unread]);
    assert.deepEqual(lines({ recorded: [] }), [WHY, lost]);
    assert.deepEqual(lines({ recorded: [], steps: [] }), []);
  });

  const preview = previewOf([
    change("prod-workers", [WHY, "w-2: join as worker of workers, wait until Ready", unread]),
    change("prod-rollout", [WHY, "w-1: unread: the versions that it runs"], { type: "NodeRollout" }),
  ]);
  it("is counted separately from the steps, for a terminal and for a pull request", () => {
    assert.equal(countSteps(preview.changes), "1 step, 2 unread in 2 resources");
    assert.equal(renderText(preview).at(-1), "1 step, 2 unread in 2 resources; 7 unchanged");
    assert.match(renderSummary(preview), /1 step, 2 unread in 2 resources of .*prod.*; 7 unchanged/);
    assert.equal(countSteps([change("a", ["w-1: join"])]), "1 step in 1 resource");
  });

  it("is listed under what to review first, once per resource with its reason", () => {
    assert.deepEqual(
      findDangers(preview).map(({ kind, words }) => [kind, words]),
      [
        ["unread", WHY],
        ["unread", WHY],
      ],
    );
  });

  it("permits no unreviewed step, and no unread line that the review did not have", () => {
    const reviewed = [change("prod-workers", [WHY, unread])];
    const kindOf = (now: string[], before = reviewed) =>
      compareReview(before, [change("prod-workers", now)]).kind;
    assert.equal(kindOf([WHY, unread]), "same");
    assert.equal(kindOf(["w-1: label a=b"]), "moved");
    assert.equal(kindOf([WHY, unread], [change("prod-workers", ["w-2: label a=b"])]), "moved");
  });

  it("permits an init whose kubeadm is not asked again, and no components that were not reviewed", () => {
    const init = (machine: string, of: { version?: string; components?: string } = {}) => {
      const step = clusterInitSteps.format({ kind: "init", machine, ...of });
      return [change("prod-init", [step], { type: "ClusterInit", operation: "create" })];
    };
    const whole = init("cp-1", { version: "1.36.99", components: "etcd 3" });
    assert.equal(compareReview(whole, init("cp-1")).kind, "remainder");
    assert.equal(compareReview(whole, init("cp-2")).kind, "moved");
    assert.equal(compareReview(init("cp-1"), whole).kind, "moved");
  });
});
