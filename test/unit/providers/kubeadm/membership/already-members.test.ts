import assert from "node:assert/strict";
import type { ReadFacts } from "../../../../../providers/kubeadm/plan/facts/machine-facts";
import { parseMachineMark } from "../../../../../providers/kubeadm/plan/facts/machine-mark";
import {
  alreadyMembers,
  mayBeMember,
  refuseOtherRole,
  refuseUnprepared,
} from "../../../../../providers/kubeadm/plan/membership/already-members";
import { type ObservedNode, wantedLabels } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { planMembership } from "../../../../../providers/kubeadm/plan/membership/plan";
import { nodeGroupSteps } from "../../../../../providers/kubeadm/plan/steps";
import { exampleMachine } from "../machine/examples";

const ID = "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42";
const SELF = { id: ID, stack: "org/shop/prod" };
const MARK = `cluster=demo machine=w-2 stack=org/shop/prod id=${ID}`;
const said = (mark: string, more: Partial<Exclude<ReadFacts, { unread: string }>> = {}): ReadFacts => ({
  ...{ mark: parseMachineMark(mark), identity: "" },
  ...more,
});
const machine = exampleMachine("w-2");
const labeled: ObservedNode = {
  ...{ name: "w-2", group: "workers", controlPlane: false, ready: true, version: "1.36.3" },
  ...{ internalAddress: machine.internalAddress, labels: wantedLabels(machine), taints: [] },
  ...{ ownedLabels: [], ownedTaints: [], unschedulable: false },
};
const { group: _, ...unlabeled } = labeled;

describe("a machine that is to join, and may be a member already", () => {
  const asked: [string, Partial<Parameters<typeof mayBeMember>[0]>, boolean][] = [
    ["it has no Node", { observed: [] }, true],
    ["its Node has no label of a group", { observed: [unlabeled] }, true],
    ["its Node has the label", { observed: [labeled] }, false],
    ["it was adopted, and its Node needs no label", { adopted: ["w-2"], observed: [unlabeled] }, false],
    ["it was adopted, and its Node was deleted", { adopted: ["w-2"], observed: [] }, true],
    ["the Nodes could not be read", { observed: undefined }, false],
  ];
  for (const [what, args, is] of asked)
    it(`is ${is ? "asked" : "not asked"}: ${what}`, () => {
      const found = mayBeMember({ desired: [machine], observed: [], ...args });
      assert.deepEqual(found, is ? [machine] : []);
    });

  const answers: [string, ReadFacts, boolean][] = [
    ["a member with this stack's mark", said(MARK, { member: true }), true],
    ["a member with an earlier release's mark", said("cluster=demo machine=w-2", { member: true }), true],
    ["no member", said(MARK), false],
    ["a member without a mark", said("", { member: true }), false],
    ["another machine of this stack", said(MARK.replace("w-2", "w-3"), { member: true }), false],
    ["another stack's", said(MARK.replace(ID, ID.replace("9a1c", "0b9e")), { member: true }), false],
    ["no answer", { unread: "refused" }, false],
  ];
  for (const [what, facts, is] of answers)
    it(`counts as ${is ? "a member" : "no member"} by what it says: ${what}`, () =>
      assert.deepEqual(alreadyMembers(SELF, "demo", new Map([["w-2", facts]])), is ? ["w-2"] : []));

  const linesOf = (observed: ObservedNode[], members: string[], kept = machine, recorded = ["w-2"]) =>
    planMembership({
      ...{ group: kept.group, desired: [kept], recorded, lost: [], observed, members },
    }).steps.map(nodeGroupSteps.format);
  const DNS = "cluster DNS: move its pods apart if all of them are on one node";

  it("is previewed as what happens to it", () => {
    const SETS = "wait until Ready, set its labels and taints";
    const registers = `w-2: register again, since it is a member without a Node: restart its kubelet, ${SETS}`;
    assert.deepEqual(linesOf([], ["w-2"]), [registers, DNS]);
    assert.deepEqual(linesOf([], ["w-2"], exampleMachine("w-2", { role: "control-plane" })), [
      registers,
      DNS,
    ]);
    assert.deepEqual(linesOf([unlabeled], ["w-2"]), [
      `w-2: is a member without the label of its group: ${SETS}`,
      DNS,
    ]);
    for (const observed of [[], [unlabeled]])
      assert.deepEqual(linesOf(observed, []), ["w-2: join as worker of workers, wait until Ready", DNS]);
  });

  it("is previewed with the reset of what was given up, when no state has it", () => {
    const GIVEN_UP = "w-2: is a member that was given up: reset its membership, join as";
    assert.deepEqual(linesOf([], ["w-2"], machine, []), [
      `${GIVEN_UP} worker of workers, wait until Ready`,
      DNS,
    ]);
    assert.deepEqual(linesOf([], ["w-2"], exampleMachine("w-2", { role: "control-plane" }), []), [
      `${GIVEN_UP} control plane, or register again if etcd has it; wait until Ready`,
      DNS,
    ]);
    assert.deepEqual(linesOf([], [], machine, []), ["w-2: join as worker of workers, wait until Ready", DNS]);
  });

  const unprepared: [string, ReadFacts, recorded: string[], now: string | undefined, boolean][] = [
    ["the state has it, and it has no mark", said(""), ["w-2"], undefined, true],
    ["this run prepares it for the first time", said(""), [], undefined, false],
    ["this run prepares it again", said(""), ["w-2"], "2", false],
    ["it has this stack's mark", said(MARK), ["w-2"], undefined, false],
    ["it does not answer", { unread: "refused" }, ["w-2"], undefined, false],
  ];
  for (const [what, facts, recorded, now, is] of unprepared)
    it(`is ${is ? "refused" : "not refused"} as unprepared: ${what}`, () => {
      const refusal = refuseUnprepared(new Map([["w-2", facts]]), recorded, { now });
      if (is) assert.match(refusal ?? "", /^w-2: nothing is prepared on this machine.*then add it again$/);
      else assert.equal(refusal, undefined);
    });

  it("is refused in the preview with the words of the run when an interrupted run joined it with the other role", () => {
    const [plane, worker] = [said(MARK, { member: true, fixed: {} }), said(MARK, { member: true })];
    const refusal = (role: "control-plane" | "worker", facts: ReadFacts, members = ["w-2"]) =>
      refuseOtherRole([exampleMachine("w-2", { role })], members, new Map([["w-2", facts]]));
    assert.equal(refusal("worker", worker), undefined);
    assert.equal(refusal("control-plane", plane), undefined);
    assert.equal(refusal("worker", plane, []), undefined);
    assert.match(
      refusal("worker", plane) ?? "",
      /joined w-2 as a control plane, and it can't become a worker/,
    );
    // it may be a control plane whose facts could not be read
    assert.equal(refusal("control-plane", worker), undefined);
  });
});
