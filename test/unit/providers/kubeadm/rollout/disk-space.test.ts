import assert from "node:assert/strict";
import { nextSteps } from "../../../../../providers/kubeadm/plan/rollout/next";
import { planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { desiredFor, nodeAt } from "./nodes";

const [OLD, NEW] = ["1.35.4", "1.36.3"] as const;
const FULL = { shortage: "/usr has 10 MiB free, an upgrade needs 300 MiB\u001b[31m" };

describe("a rollout with full disks", () => {
  const nodes = ["cp-1", "w-1", "w-2"].map((name) => nodeAt(name, OLD));
  const full = (...names: string[]) =>
    nodes.map((node) => (names.includes(node.name) ? { ...node, ...FULL } : node));

  it("is refused in the preview with all of them, and lists the steps", () => {
    const found = full("cp-1", "w-2");
    const { refusals, steps } = planRollout(found, desiredFor(found, NEW), { agents: "assumed" });
    assert.equal(steps.length, 3);
    assert.deepEqual(
      refusals.map((refusal) => refusal.slice(0, 85)),
      ["cp-1", "w-2"].map((name) =>
        `${name} has too little free space for an upgrade (/usr has 10 MiB free, an upgrade needs 300 MiB`.slice(
          0,
          85,
        ),
      ),
    );
    assert.ok(!refusals.join().includes("\u001b"));
  });

  it("begins no such node, and stops with the reason", () => {
    const found = full("cp-1");
    const next = nextSteps(found, desiredFor(found, NEW));
    assert.deepEqual(next.begin, []);
    assert.match(next.stop ?? "", /cp-1 has too little free space/);
  });

  it("begins the nodes before such a node", () => {
    const found = full("w-1");
    const { begin, stop } = nextSteps(found, desiredFor(found, NEW));
    assert.deepEqual([begin.map(({ node }) => node), stop], [["cp-1"], undefined]);
  });

  it("finishes a node that it has begun", () => {
    const desired = { kubelet: NEW, kubeadm: NEW, kubectl: NEW };
    const begun = { ...nodes[0]!, ...FULL, changesAllowed: true, agentReady: false, desired };
    const found = [begun, ...nodes.slice(1)];
    assert.deepEqual(planRollout(found, desiredFor(found, NEW), { agents: "assumed" }).refusals, []);
    assert.deepEqual(
      nextSteps(found, desiredFor(found, NEW)).finish.map(({ node }) => node),
      ["cp-1"],
    );
  });

  it("does not matter for a change that installs no version", () => {
    const found = full("w-1").map((node) => ({ ...node, kubeletVersion: NEW }));
    assert.deepEqual(planRollout(found, desiredFor(found, NEW), { agents: "assumed" }).refusals, []);
  });
});
