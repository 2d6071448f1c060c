import assert from "node:assert/strict";
import fc from "fast-check";
import { refuseForeignNodes } from "../../../../../providers/kubeadm/plan/configuration/immutables";
import {
  formerNodes,
  planMembership,
  removedMembers,
} from "../../../../../providers/kubeadm/plan/membership/plan";
import { nodeGroupSteps } from "../../../../../providers/kubeadm/plan/steps";
import type { ObservedNode } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { exampleMachine } from "../machine/examples";

const node = (name: string, group?: string, over: Partial<ObservedNode> = {}): ObservedNode => ({
  ...{ name, uid: `uid-${name}`, group, controlPlane: false, ready: true, version: "1.36.3" },
  ...{ internalAddress: "10.0.0.9", labels: {}, taints: [], ownedLabels: [], ownedTaints: [] },
  ...{ unschedulable: false, ...over },
});
const plan = (over: Partial<Parameters<typeof planMembership>[0]>) =>
  planMembership({ group: "workers", desired: [], recorded: [], lost: [], observed: [], ...over });
const GROUPS = [undefined, "workers", "gpu", "control-plane", "old", "x y"];

describe("a label foresail/group that a Node wrote itself", () => {
  it("takes no Node out of the cluster that is not a machine of the stack; a note names it", () => {
    const { steps, notes } = plan({ observed: [node("x-1", "workers")] });
    assert.deepEqual(steps, []);
    assert.deepEqual(notes.map(nodeGroupSteps.format), [
      "x-1 has the label foresail/group=workers, but is not a machine of this stack, so nothing is done to it; " +
        "remove the label or the Node, or list it under `lost`",
    ]);
    assert.deepEqual(plan({ observed: [node("x-1", "workers")], lost: ["x-1"] }).steps, [
      { kind: "lose", machine: "x-1" },
    ]);
  });

  it("neither saves a machine that leaves nor takes out another one, whatever it says", () => {
    const names = ["w-1", "w-2", "w-3", "g-1", "x-1"];
    const label = fc.constantFrom(...GROUPS);
    fc.assert(
      fc.property(fc.tuple(label, label, label, label, label), (labels) => {
        const observed = names.map((name, index) => node(name, labels[index]));
        const { steps } = plan({
          ...{ desired: [exampleMachine("w-1")], recorded: ["w-1", "w-2"], elsewhere: ["g-1"] },
          ...{ former: { "w-3": "uid-w-3" }, observed },
        });
        const leaving = steps.flatMap((step) => (step.kind === "remove" ? [step.machine] : []));
        assert.deepEqual(leaving, ["w-3", "w-2"]);
      }),
    );
  });

  it("does not change which machines of a removed pool a preview lists", () => {
    for (const group of GROUPS) {
      const observed = [node("o-1", group), node("x-1", "old")];
      const args = { configured: {}, recorded: { old: ["o-1"] }, leaving: {}, lost: [], observed };
      const members = removedMembers(args).map(({ machine, hasNode }) => [machine, hasNode]);
      assert.deepEqual(members, [["o-1", true]]);
    }
  });

  it("is not a proof that a machine has joined which has another address", () => {
    const machine = exampleMachine("w-1");
    const refused = (olds: (typeof machine)[], observed: ObservedNode[]) =>
      refuseForeignNodes(olds, [machine], observed).map(({ reason }) => reason);
    assert.match(
      refused([], [node("w-1", "workers")]).join(),
      /^w-1: the cluster has a Node of this name at 10\.0\.0\.9, which is not this machine \(10\.0\.0\.101\)/,
    );
    const own = node("w-1", "workers", { internalAddress: machine.internalAddress });
    assert.deepEqual(refused([], [own]), []);
    assert.deepEqual(refused([machine], [node("w-1", "workers")]), []);
    assert.deepEqual(refused([], [node("w-1")]), []);
  });
});

describe("the Nodes that leave a group, in the state", () => {
  const machines = [exampleMachine("w-1"), exampleMachine("w-2")];
  const former = (over: Partial<Parameters<typeof formerNodes>[0]>) =>
    formerNodes({ group: "workers", before: {}, configured: [], observed: [], ...over });
  const observed = [node("w-1", "workers"), node("w-2", "workers"), node("x-1", "workers")];

  it("are machines of the last run that are no longer configured, while their Node exists", () => {
    const before = { machines, owned: {} };
    assert.deepEqual(former({ before, configured: ["w-1"], observed }), { "w-2": "uid-w-2" });
    assert.deepEqual(former({ before, configured: ["w-1"], observed: [] }), {});
    assert.deepEqual(former({ before, configured: ["w-1", "w-2"], observed }), {});
  });

  it("stay until their Node is gone, and are none when a machine of the name joined again", () => {
    const before = { machines: [], owned: {}, former: { "w-2": "uid-w-2" } };
    assert.deepEqual(former({ before, observed }), { "w-2": "uid-w-2" });
    assert.deepEqual(former({ before, observed: undefined }), { "w-2": "uid-w-2" });
    assert.deepEqual(former({ before, observed: [node("w-2", "workers", { uid: "new" })] }), {});
  });

  it("follow the labels in state of releases without a record", () => {
    assert.deepEqual(former({ before: { machines }, configured: ["w-1", "w-2"], observed }), {
      "x-1": "uid-x-1",
    });
    assert.deepEqual(former({ observed }), {});
  });
});
