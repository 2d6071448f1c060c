import assert from "node:assert/strict";
import type { ObservedNode } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { planMembership } from "../../../../../providers/kubeadm/plan/membership/plan";
import { nodeGroupSteps } from "../../../../../providers/kubeadm/plan/steps";

const nodeIn = (group: string | undefined) => [
  { name: "m-2", ready: true, group } as unknown as ObservedNode,
];

describe("a machine that a group has in the state, and that is configured in another group", () => {
  const cases: [what: string, observed: ObservedNode[] | undefined, elsewhere: string[], leaves: boolean][] =
    [
      [
        "stays when its Node has no label: a run that refused it recorded it",
        nodeIn(undefined),
        ["m-2"],
        false,
      ],
      ["stays when its Node has the other group's label", nodeIn("control-plane"), ["m-2"], false],
      ["stays when it has no Node", [], ["m-2"], false],
      ["leaves as long as its Node has this group's label", nodeIn("workers"), ["m-2"], true],
      ["leaves by the record when the Nodes can't be read", undefined, ["m-2"], true],
      ["leaves when it is configured nowhere", nodeIn(undefined), [], true],
    ];
  for (const [what, observed, elsewhere, leaves] of cases)
    it(what, () => {
      const { steps } = planMembership({
        ...{ group: "workers", desired: [], recorded: ["m-2"], lost: [], elsewhere },
        ...(observed ? { observed } : {}),
      });
      const lines = steps.map(nodeGroupSteps.format);
      assert.equal(lines.length, leaves ? 1 : 0, lines.join("\n"));
    });
});
