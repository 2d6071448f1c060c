import assert from "node:assert/strict";
import { CONTROL_PLANE_GROUP } from "../../../../../providers/kubeadm/plan/cluster/machine";
import { refuseLeavingMajority } from "../../../../../providers/kubeadm/plan/membership/majority";
import type { ObservedNode } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { planMembership } from "../../../../../providers/kubeadm/plan/membership/plan";
import { exampleMachine } from "../machine/examples";

const node = (name: string, ready = true): ObservedNode => ({
  ...{ name, group: CONTROL_PLANE_GROUP, controlPlane: true, ready, version: "1.36.3", labels: {} },
  ...{ internalAddress: "10.0.0.1", taints: [], ownedLabels: [], ownedTaints: [], unschedulable: false },
});

interface Case {
  /** Names of the machines that stay, of those in the state, of those that an interrupted run joined, and of the lost ones. */
  wanted: string[];
  recorded?: string[];
  interrupted?: string[];
  lost?: string[];
  /** The cluster's Nodes; those with a question mark are not Ready. Undefined if they could not be read. */
  nodes: string[] | undefined;
  leaves: string[];
  refused?: RegExp;
}

const CASES: Record<string, Case> = {
  "a single control plane, and two killed joins whose Nodes exist": {
    ...{ wanted: ["cp-1"], interrupted: ["cp-2", "cp-3"], nodes: ["cp-1", "cp-2", "cp-3"] },
    leaves: ["cp-3", "cp-2"],
  },
  "the same, of which one is not Ready, and one has no Node": {
    ...{ wanted: ["cp-1"], interrupted: ["cp-2", "cp-3", "cp-4"], nodes: ["cp-1", "cp-2?", "cp-3"] },
    leaves: ["cp-4", "cp-2", "cp-3"],
  },
  "the same, and the Nodes could not be read": {
    ...{ wanted: ["cp-1"], interrupted: ["cp-2", "cp-3"], nodes: undefined },
    leaves: ["cp-3", "cp-2"],
  },
  "three control planes, of which two leave": {
    ...{ wanted: ["cp-1"], recorded: ["cp-1", "cp-2", "cp-3"], nodes: ["cp-1", "cp-2", "cp-3"] },
    leaves: ["cp-3", "cp-2"],
    refused: /^cp-3, cp-2 would leave at once, a majority of the 3 control planes; take out at most 1/,
  },
  "three control planes, of which one leaves beside two killed joins": {
    ...{ wanted: ["cp-1", "cp-2"], recorded: ["cp-1", "cp-2", "cp-3"], interrupted: ["cp-4", "cp-5"] },
    ...{ nodes: ["cp-1", "cp-2", "cp-3", "cp-4", "cp-5"], leaves: ["cp-5", "cp-4", "cp-3"] },
  },
  "three control planes, of which two leave beside two killed joins, which are not members that stay": {
    ...{ wanted: ["cp-1"], recorded: ["cp-1", "cp-2", "cp-3"], interrupted: ["cp-4", "cp-5"] },
    ...{ nodes: ["cp-1", "cp-2", "cp-3", "cp-4", "cp-5"], leaves: ["cp-5", "cp-4", "cp-3", "cp-2"] },
    refused: /^cp-3, cp-2 would leave at once, a majority of the 3 control planes/,
  },
  "three control planes, of which two are lost": {
    ...{ wanted: ["cp-1"], recorded: ["cp-1", "cp-2", "cp-3"], lost: ["cp-2", "cp-3"] },
    ...{ nodes: ["cp-1", "cp-2?", "cp-3?"], leaves: ["cp-3", "cp-2"] },
    refused: /^cp-3, cp-2 would leave at once/,
  },
};

describe("control planes that leave together", () => {
  for (const [what, each] of Object.entries(CASES))
    it(`are ${each.refused ? "refused" : "steps"}: ${what}`, () => {
      const { wanted, recorded = ["cp-1"], interrupted = [], lost = [], nodes, leaves, refused } = each;
      const observed = nodes?.map((name) => node(name.replace("?", ""), !name.endsWith("?")));
      const { steps } = planMembership({
        group: CONTROL_PLANE_GROUP,
        desired: wanted.map((name) => exampleMachine(name)),
        ...{ recorded, lost, ...(observed ? { observed } : {}) },
        interrupted: interrupted.map((name) => ({ name, group: CONTROL_PLANE_GROUP })),
      });
      const removals = steps.flatMap((step) =>
        step.kind === "remove" || step.kind === "lose" ? [step.machine] : [],
      );
      assert.deepEqual(removals, leaves);
      const refusal = refuseLeavingMajority({ steps, recorded, interrupted, observed });
      if (refused) assert.match(refusal ?? "", refused);
      else assert.equal(refusal, undefined);
    });
});
