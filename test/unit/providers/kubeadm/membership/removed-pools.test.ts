import assert from "node:assert/strict";
import type { ObservedNode } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { nodeGroupSteps } from "../../../../../providers/kubeadm/plan/steps";
import {
  poolsThatLeave,
  removedMembers,
  removedMemberStep,
} from "../../../../../providers/kubeadm/plan/membership/plan";

const node = (name: string, group?: string) => ({ name, group, ready: true }) as ObservedNode;
const asked = (over: Partial<Parameters<typeof removedMembers>[0]>) =>
  removedMembers({ configured: {}, recorded: {}, leaving: {}, lost: [], observed: [], ...over });
const lines = (over: Parameters<typeof asked>[0]) =>
  asked(over).map((member) => nodeGroupSteps.format(removedMemberStep(member)));

describe("pools that are no longer configured", () => {
  const observed = [
    node("cp-1", "control-plane"),
    node("w-1", "workers"),
    node("g-1", "gpu"),
    node("g-10", "gpu"),
  ];
  const configured = { workers: ["w-1"] };

  for (const [what, over, expected] of [
    ["list nothing when every pool is configured", { configured, recorded: configured, observed }, []],
    [
      "list the drain and the reset of each machine, highest index first, and of lost ones what is left to do",
      { configured, recorded: { ...configured, gpu: ["g-1", "g-10"] }, observed, lost: ["g-1"] },
      [
        "g-10: cordon, drain, kubeadm reset, delete its Node (pool gpu is removed)",
        "g-1: lost, delete its Node, kubeadm reset if it answers (pool gpu is removed)",
      ],
    ],
    [
      "list a recorded machine without a Node, which the deletion resets all the same",
      { configured, recorded: { gpu: ["g-1", "g-2"] }, observed: [node("g-1", "gpu")] },
      [
        "g-2: kubeadm reset if it answers, its Node is gone (pool gpu is removed)",
        "g-1: cordon, drain, kubeadm reset, delete its Node (pool gpu is removed)",
      ],
    ],
    [
      "go by the labels of the Nodes in state of older releases",
      { configured, recorded: undefined, observed: [node("g-1", "gpu"), node("x")] },
      ["g-1: cordon, drain, kubeadm reset, delete its Node (pool gpu is removed)"],
    ],
    [
      "go by the record when the cluster can't be read",
      { configured, recorded: { gpu: ["g-1"] }, observed: undefined },
      ["g-1: cordon, drain, kubeadm reset, delete its Node (pool gpu is removed)"],
    ],
    [
      "are listed again while a failed removal left Nodes of them",
      { configured, recorded: configured, leaving: { gpu: ["g-1", "g-2"] }, observed: [node("g-1", "gpu")] },
      ["g-1: cordon, drain, kubeadm reset, delete its Node (pool gpu is removed)"],
    ],
    [
      "are done when no Node of them is left",
      { configured, recorded: configured, leaving: { gpu: ["g-1"] }, observed: [node("w-1", "workers")] },
      [],
    ],
    [
      "do not cover a Node whose label names a pool that foresail never had",
      { configured, recorded: configured, observed: [node("x", "strange")] },
      [],
    ],
  ] as const)
    it(what, () => assert.deepEqual(lines(over), expected));

  it("are removed again as long as one of their Nodes exists", () => {
    const members = asked({ recorded: { gpu: ["g-1", "g-2"] }, observed: [node("g-1", "gpu")] });
    assert.deepEqual(poolsThatLeave(members), { gpu: ["g-1"] });
  });
});
