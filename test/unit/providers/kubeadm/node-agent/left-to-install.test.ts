import assert from "node:assert/strict";
import {
  type AgentTold,
  leftToInstall,
} from "../../../../../providers/kubeadm/machine/node-agent/left-to-install";
import { agentRevision, type AgentWish } from "../../../../../providers/kubeadm/machine/node-agent/wish";
import { exampleSpecification } from "../machine/examples";

const wish: AgentWish = {
  agent: "1.1.0",
  annotations: "alpha.[software].caos.ch",
  staged: { kubernetes: ["1.36.3"], software: {} },
  specification: exampleSpecification(),
};
const older: AgentWish = { ...wish, staged: { kubernetes: ["1.35.4"], software: {} } };
const ALL = ["w-1: install node agent 1.1.0", "w-1: stage 1.36.3"];
const CHANGE = ["w-1: stage 1.36.3", "w-1: no longer stage 1.35.4"];

describe("what is left to do for a machine's agent", () => {
  const said = (by: AgentWish): AgentTold => ({ hasSpoken: true, revision: agentRevision(by) });
  const silent: AgentTold = { hasSpoken: false };
  const cases: [string, AgentWish | undefined, AgentTold | undefined, string[]][] = [
    ["a machine that is new", undefined, undefined, ALL],
    ["a machine that is new and whose Node is silent", undefined, silent, ALL],
    ["a machine that was rebuilt under its name", undefined, said(wish), ALL],
    ["a wish that changed", older, said(older), CHANGE],
    ["a wish that changed, the cluster unread", older, undefined, CHANGE],
    ["a wish that another run has fulfilled already", older, said(wish), []],
    ["nothing new", wish, said(wish), []],
    ["nothing new, the cluster unread", wish, undefined, []],
    ["a machine that a failed run left at the wish before", wish, said(older), ALL],
    ["a machine that a failed run never reached", wish, silent, ALL],
    ["an agent that knows of no revision", wish, { hasSpoken: true }, []],
  ];
  for (const [title, recorded, told, steps] of cases)
    it(`of ${title}: ${steps.length === 0 ? "nothing" : steps.join(", ")}`, () => {
      assert.deepEqual(leftToInstall("w-1", wish, agentRevision(wish), recorded, told), steps);
    });

  it("has one revision for one wish, whatever the order of its keys, and another for another", () => {
    const { staged, ...others } = wish;
    assert.equal(agentRevision({ staged, ...others }), agentRevision(wish));
    const same = { ...wish, specification: Object.fromEntries(Object.entries(wish.specification).reverse()) };
    assert.equal(agentRevision(same as AgentWish), agentRevision(wish));
    assert.notEqual(agentRevision(older), agentRevision(wish));
    assert.notEqual(agentRevision({ ...wish, agent: "1.2.0" }), agentRevision(wish));
  });
});
