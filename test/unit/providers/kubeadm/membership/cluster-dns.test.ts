import assert from "node:assert/strict";
import { dnsPodsToMove, type DnsPod } from "../../../../../providers/kubeadm/plan/membership/nodes";

const pod = (name: string, nodeName?: string, others: Partial<DnsPod> = {}): DnsPod => ({
  metadata: { name },
  spec: { nodeName },
  status: { phase: "Running" },
  ...others,
});

describe("the cluster's DNS", () => {
  const cases: [string, DnsPod[], string[], string[]][] = [
    ["all on one node: all but one move", [pod("b", "cp-1"), pod("a", "cp-1")], ["cp-1", "w-1"], ["b"]],
    ["on two nodes already: none moves", [pod("a", "cp-1"), pod("b", "w-1")], ["cp-1", "w-1"], []],
    ["no other node could take one: none moves", [pod("a", "cp-1"), pod("b", "cp-1")], ["cp-1"], []],
    ["a single pod: it stays", [pod("a", "cp-1")], ["cp-1", "w-1"], []],
    ["there is none", [], ["cp-1"], []],
    [
      "one is on its way out already: the other stays",
      [
        pod("a", "cp-1"),
        pod("b", "cp-1", { metadata: { name: "b", deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      ],
      ["cp-1", "w-1"],
      [],
    ],
    [
      "one does not run yet: the other stays",
      [pod("a", "cp-1"), pod("b", undefined, { status: { phase: "Pending" } })],
      ["cp-1", "w-1"],
      [],
    ],
  ];
  for (const [title, pods, nodes, moved] of cases) {
    it(title, () =>
      assert.deepEqual(
        dnsPodsToMove(pods, nodes).map(({ metadata }) => metadata?.name),
        moved,
      ),
    );
  }
});
