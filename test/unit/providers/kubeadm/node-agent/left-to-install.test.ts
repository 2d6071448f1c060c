import assert from "node:assert/strict";
import {
  type ReportedAgent,
  leftToInstall,
  agentRevision,
  type DesiredAgent,
} from "../../../../../providers/kubeadm/plan/rollout/node-agents";
import { nodeAgentsSteps } from "../../../../../providers/kubeadm/plan/steps";
import { exampleMachine, exampleSpecification } from "../machine/examples";

const desired: DesiredAgent = {
  agent: "1.1.0",
  annotations: "alpha.[software].caos.ch",
  staged: { kubernetes: ["1.36.3"], software: {} },
  specification: exampleSpecification(),
};
const older: DesiredAgent = { ...desired, staged: { kubernetes: ["1.35.4"], software: {} } };
const revisionOf = (by: DesiredAgent) => agentRevision(exampleMachine("w-1"), by);
const ALL = ["w-1: install node agent 1.1.0", "w-1: stage 1.36.3"];
const CHANGE = ["w-1: stage 1.36.3", "w-1: no longer stage 1.35.4"];

describe("remaining steps for a machine's agent", () => {
  const said = (by: DesiredAgent): ReportedAgent => ({ hasReported: true, revision: revisionOf(by) });
  const silent: ReportedAgent = { hasReported: false };
  const cases: [string, DesiredAgent | undefined, ReportedAgent | undefined, string[]][] = [
    ["a machine that is new", undefined, undefined, ALL],
    ["a machine that is new and whose Node is silent", undefined, silent, ALL],
    ["a machine that was rebuilt under its name", undefined, said(desired), ALL],
    ["a spec that changed", older, said(older), CHANGE],
    ["a spec that changed, the cluster unread", older, undefined, CHANGE],
    ["a spec that another run has applied already", older, said(desired), []],
    ["nothing new", desired, said(desired), []],
    ["nothing new, the cluster unread", desired, undefined, []],
    ["a machine that a failed run left at the previous spec", desired, said(older), ALL],
    ["a machine that a failed run never reached", desired, silent, ALL],
    ["an agent that knows of no revision", desired, { hasReported: true }, []],
  ];
  for (const [title, recorded, told, steps] of cases)
    it(`of ${title}: ${steps.length === 0 ? "nothing" : steps.join(", ")}`, () => {
      const left = leftToInstall(exampleMachine("w-1"), desired, recorded, told);
      assert.deepEqual(left.map(nodeAgentsSteps.format), steps);
    });

  it("has the same revision for the same spec in any order of keys, and another for another spec", () => {
    const { staged, ...others } = desired;
    assert.equal(revisionOf({ staged, ...others }), revisionOf(desired));
    const same = {
      ...desired,
      specification: Object.fromEntries(Object.entries(desired.specification).reverse()),
    };
    assert.equal(revisionOf(same as DesiredAgent), revisionOf(desired));
    assert.notEqual(revisionOf(older), revisionOf(desired));
    assert.notEqual(revisionOf({ ...desired, agent: "1.2.0" }), revisionOf(desired));
  });
});
