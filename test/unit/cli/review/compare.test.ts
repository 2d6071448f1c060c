import assert from "node:assert/strict";
import type { ReviewedChange } from "../../../../cli/review/change";
import { compareReview } from "../../../../cli/review/compare";
import { change } from "./changes";
import { UNKNOWN } from "../../../../lib/unknown";

const JOIN = (name: string) => `${name}: join as worker of workers, wait until Ready`;
const ROLL = (name: string) => `${name} 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)`;
const RESUMED = (name: string) =>
  `${name} 1.35.4 → 1.36.3 (begun by an earlier run: cordon, drain, kubeadm upgrade node, uncordon)`;

describe("a review held against what would run now", () => {
  const rows: [string, ReviewedChange[], ReviewedChange[], string][] = [
    ["nothing, and nothing now", [], [], "same"],
    ["the same steps", [change("a", [JOIN("w-1")])], [change("a", [JOIN("w-1")])], "same"],
    ["all done", [change("a", [JOIN("w-1")])], [], "nothing left"],
    ["a suffix", [change("a", [JOIN("w-1"), JOIN("w-2")])], [change("a", [JOIN("w-2")])], "remainder"],
    [
      "one of several that ran side by side",
      [change("a", [JOIN("w-1"), JOIN("w-2"), JOIN("w-3")])],
      [change("a", [JOIN("w-1"), JOIN("w-3")])],
      "remainder",
    ],
    [
      "one resource done",
      [change("a", [JOIN("w-1")]), change("b", ["x: y"])],
      [change("b", ["x: y"])],
      "remainder",
    ],
    ["a step more", [change("a", [JOIN("w-1")])], [change("a", [JOIN("w-1"), JOIN("w-2")])], "moved"],
    ["a step twice", [change("a", [JOIN("w-1")])], [change("a", [JOIN("w-1"), JOIN("w-1")])], "moved"],
    ["another order", [change("a", ["w-1: a", "w-2: a"])], [change("a", ["w-2: a", "w-1: a"])], "moved"],
    [
      "another target",
      [change("a", [ROLL("w-1")])],
      [change("a", [ROLL("w-1").replace("1.36.3", "1.36.4")])],
      "moved",
    ],
    ["another resource", [change("a", ["x: y"])], [change("b", ["x: y"])], "moved"],
    ["a new resource without steps", [change("a")], [change("a"), change("b")], "moved"],
    ["an update that became a deletion", [change("a")], [change("a", [], { operation: "delete" })], "moved"],
    [
      "an update that became a replacement",
      [change("a")],
      [change("a", [], { operation: "replace" })],
      "moved",
    ],
    [
      "a create that failed half-way",
      [change("a", ["x: y"], { operation: "create" })],
      [change("a", ["x: y"], { operation: "update" })],
      "remainder",
    ],
    [
      "a replacement of which the deletion is left",
      [change("a", ["x: y"], { operation: "replace", inputs: { size: 1 } })],
      [change("a", [], { operation: "delete" })],
      "remainder",
    ],
    [
      "another wish with the same steps",
      [change("a", ["x: y"], { inputs: { version: "1.36.3" } })],
      [change("a", ["x: y"], { inputs: { version: "1.36.4" } })],
      "moved",
    ],
    [
      "a wish that was unknown and is known now",
      [change("a", ["x: y"], { inputs: { nested: { kubeconfig: UNKNOWN } } })],
      [change("a", ["x: y"], { inputs: { nested: { kubeconfig: "[secret]" } } })],
      "remainder",
    ],
    [
      "a wish that was known and is unknown now",
      [change("a", ["x: y"], { inputs: { nested: ["k"] } })],
      [change("a", ["x: y"], { inputs: { nested: [UNKNOWN] } })],
      "moved",
    ],
    [
      "machines that joined a cluster which did not exist yet",
      [change("a", ["unknown until the cluster exists; wanted: w-1, w-2"])],
      [change("a", [JOIN("w-2")])],
      "remainder",
    ],
    [
      "a removal from a cluster which did not exist yet",
      [change("a", ["unknown until the cluster exists; wanted: w-1, w-2"])],
      [change("a", ["w-2: cordon, drain, kubeadm reset, delete its Node"])],
      "moved",
    ],
    [
      "a machine that was not wanted of a cluster which did not exist yet",
      [change("a", ["unknown until the cluster exists; wanted: w-1, w-2"])],
      [change("a", [JOIN("w-3")])],
      "moved",
    ],
    [
      "steps that can no longer be known",
      [change("a", [JOIN("w-1")])],
      [change("a", ["unknown until the machines exist"])],
      "moved",
    ],
    [
      "what machines that did not exist yet need",
      [change("a", ["unknown until the machines exist"])],
      [change("a", ["w-1: install node agent 1.0.0"])],
      "remainder",
    ],
    ...["w-1: cordon, drain, kubeadm reset, delete its Node", "w-1: lost, delete its Node", ROLL("w-1")].map(
      (step): [string, ReviewedChange[], ReviewedChange[], string] => [
        `machines that did not exist yet, and ${step}`,
        [change("a", ["unknown until the machines exist"])],
        [change("a", [step])],
        "moved",
      ],
    ),
    [
      "a remark about a node that is not Ready",
      [change("a", [ROLL("w-1")])],
      [change("a", [ROLL("w-1"), "w-1 is not Ready: the kubelet has not reported"])],
      "remainder",
    ],
    [
      "nodes that were under way together, the later one first",
      [change("a", [ROLL("w-1"), ROLL("w-2"), ROLL("w-3")])],
      [change("a", [RESUMED("w-2"), ROLL("w-1"), ROLL("w-3")])],
      "remainder",
    ],
    [
      "a node that was done but for its uncordoning",
      [change("a", [ROLL("w-1").replace(" (", ", containerd 2.1.4 → 2.2.0 ("), ROLL("w-2")])],
      [change("a", ["w-1 1.36.3 (begun by an earlier run: uncordon)", ROLL("w-2")])],
      "remainder",
    ],
    [
      "a node begun with a software that was not reviewed",
      [change("a", [ROLL("w-1")])],
      [change("a", [RESUMED("w-1").replace(" (", ", containerd 2.1.4 → 2.2.0 (")])],
      "moved",
    ],
    [
      "a node begun towards another version",
      [change("a", [ROLL("w-1")])],
      [change("a", [RESUMED("w-1").replace("1.36.3", "1.36.4")])],
      "moved",
    ],
    ["a step begun by somebody else", [change("a", [ROLL("w-1")])], [change("a", [RESUMED("w-2")])], "moved"],
  ];
  for (const [name, reviewed, current, kind] of rows) {
    it(`${name}: ${kind}`, () => assert.equal(compareReview(reviewed, current).kind, kind));
  }

  it("names the resource, the reason and both lists where it moved", () => {
    const verdict = compareReview([change("a", [JOIN("w-1")])], [change("a", [JOIN("w-2")]), change("b")]);
    assert.deepEqual(verdict, {
      kind: "moved",
      differences: [
        {
          name: "a",
          type: "NodeGroup",
          why: `not reviewed: ${JOIN("w-2")}`,
          reviewed: [JOIN("w-1")],
          current: [JOIN("w-2")],
        },
        {
          name: "b",
          type: "NodeGroup",
          why: "the review does not change it",
          reviewed: [],
          current: ["(update)"],
        },
      ],
    });
  });
});
