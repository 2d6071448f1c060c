import assert from "node:assert/strict";
import type { ObservedNode } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { planMembership } from "../../../../../providers/kubeadm/plan/membership/plan";
import { nodeGroupSteps } from "../../../../../providers/kubeadm/plan/steps";

const nodeIn = (group: string | undefined, controlPlane = false) => [
  { name: "m-2", ready: true, group, controlPlane } as unknown as ObservedNode,
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
  const stepsOf = (group: string, observed: ObservedNode[] | undefined, elsewhere: string[]) =>
    planMembership({
      ...{ group, desired: [], recorded: ["m-2"], lost: [], elsewhere },
      ...(observed ? { observed } : {}),
    }).steps;
  for (const [what, observed, elsewhere, leaves] of cases)
    it(what, () => {
      const lines = stepsOf("workers", observed, elsewhere).map(nodeGroupSteps.format);
      assert.equal(lines.length, leaves ? 1 : 0, lines.join("\n"));
    });

  const controlPlanes: [what: string, observed: ObservedNode[], leaves: boolean][] = [
    ["leaves etcd when its Node was deleted by hand", [], true],
    ["leaves etcd when its Node is a control plane without a label", nodeIn(undefined, true), true],
    ["stays when its Node is a worker", nodeIn(undefined, false), false],
  ];
  for (const [what, observed, leaves] of controlPlanes)
    it(`of the control planes ${what}`, () => {
      const steps = stepsOf("control-plane", observed, ["m-2"]);
      assert.deepEqual(steps, leaves ? [{ kind: "remove", machine: "m-2", etcdMember: true }] : []);
    });
});
