import assert from "node:assert/strict";
import { nextSteps } from "../../../../../providers/kubeadm/plan/rollout/next";
import { type RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { describeRolloutStep, planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { desiredSoftware, type DesiredRollout } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { nodeRolloutSteps } from "../../../../../providers/kubeadm/plan/steps";
import { nodeAt, poolsOf, desiredFor } from "./nodes";

const cluster = (version: string) =>
  ["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => nodeAt(name, version));
const changed = (nodes: RolloutNode[], name: string, over: Partial<RolloutNode>) =>
  nodes.map((node) => (node.name === name ? { ...node, ...over } : node));
const lines = (nodes: RolloutNode[], version: string, over: Partial<DesiredRollout> = {}) => {
  const plan = planRollout(
    nodes,
    desiredFor(nodes, version, { clusterVersion: nodes[0]?.kubeletVersion, ...over }),
  );
  return [
    ...plan.steps.map((step) => `${step.pass}.${step.wave} ${describeRolloutStep(step)}`),
    ...plan.refusals,
  ];
};

describe("rollout plan", () => {
  it("upgrades node by node, control planes first, the first of them with `apply`", () => {
    assert.deepEqual(lines(cluster("1.35.4"), "1.36.3"), [
      "1.1 cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)",
      "1.2 cp-2 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
      "1.3 cp-3 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
      "1.4 w-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
      "1.5 w-2 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
    ]);
  });

  it("reads the role of a node from its pool, not from its label", () => {
    const nodes = ["cp-1", "cp-2", "w-1"].map((name) => nodeAt(name, "1.35.4"));
    const desired = desiredFor(nodes, "1.36.3");
    const found = nodes.map((node) => ({ ...node, controlPlane: node.name === "cp-1" }));
    const roles = planRollout(found, desired).steps.map(({ node, controlPlane }) => [node, controlPlane]);
    assert.deepEqual(roles, [
      ["cp-1", true],
      ["cp-2", true],
      ["w-1", false],
    ]);
  });

  it("has no step where nothing differs, even in a cluster without any annotation", () => {
    const fresh = cluster("1.36.3").map((node) => ({
      ...node,
      current: {},
      desired: {},
      agentReady: undefined,
    }));
    assert.deepEqual(planRollout(fresh, desiredFor(fresh, "1.36.3")), {
      steps: [],
      refusals: [],
      notes: [],
      leftOut: [],
      held: [],
    });
    assert.equal(nextSteps(fresh, desiredFor(fresh, "1.36.3")).done, true);
  });

  it("rolls out one minor at a time, every node before the next minor", () => {
    const nodes = [nodeAt("cp-1", "1.34.1"), nodeAt("w-1", "1.34.1")];
    const short = (over: Partial<DesiredRollout>) =>
      lines(nodes, "1.36.3", over).map((line) => line.replace(/ \(.*/, ""));
    assert.deepEqual(short({}), [
      "1.1 cp-1 1.34.1 → 1.35.4",
      "1.2 w-1 1.34.1 → 1.35.4",
      "2.1 cp-1 1.35.4 → 1.36.3",
      "2.2 w-1 1.35.4 → 1.36.3",
    ]);
    assert.match(short({ intermediates: ["1.35.2"] })[0] ?? "", /1\.34\.1 → 1\.35\.2/);
  });

  it("upgrades up to maxUnavailable of a pool at once, one pool after another", () => {
    const nodes = ["cp-1", "a-1", "a-2", "a-3", "b-1"].map((name) => nodeAt(name, "1.36.0"));
    const pools = poolsOf(nodes, { a: { maxUnavailable: "70%" }, b: { maxUnavailable: 5 } });
    const short = lines(nodes, "1.36.3", { pools }).map((line) => line.split(" ").slice(0, 2).join(" "));
    assert.deepEqual(short, ["1.1 cp-1", "1.2 a-1", "1.2 a-2", "1.3 a-3", "1.4 b-1"]);
  });

  it("rolls out other software by the same protocol", () => {
    const nodes = cluster("1.36.3").map((node) => ({
      ...node,
      current: { ...node.current, containerd: "2.1.4" },
    }));
    const plan = lines(nodes.slice(0, 1), "1.36.3", { software: { containerd: "2.2.0" } });
    assert.deepEqual(plan, [
      "1.1 cp-1 1.36.3, containerd 2.1.4 → 2.2.0 (cordon, drain, the node agent changes it, uncordon)",
    ]);
  });

  it("leaves paused nodes and pools, with a note", () => {
    const nodes = cluster("1.35.4");
    const plan = planRollout(
      nodes,
      desiredFor(nodes, "1.36.3", { pausedNodes: ["w-1"], clusterVersion: "1.35.4" }),
    );
    assert.deepEqual(
      plan.steps.map(({ node }) => node),
      ["cp-1", "cp-2", "cp-3", "w-2"],
    );
    assert.deepEqual(plan.notes, [
      "order: control planes first, since no kubelet may be newer than an API server",
      "w-1 is paused: it stays at 1.35.4",
    ]);
    assert.deepEqual(plan.refusals, []);
  });

  const refused: [string, RegExp, RolloutNode[], Partial<DesiredRollout> & { version: string }][] = [
    [
      "a downgrade across minors",
      /cp-1 runs 1\.36\.3.*can't go down a minor/,
      cluster("1.36.3"),
      { version: "1.35.4" },
    ],
    [
      "a single node of a newer minor",
      /^w-2 runs 1\.36\.3, and/,
      changed(cluster("1.35.4"), "w-2", { kubeletVersion: "1.36.3" }),
      { version: "1.35.5" },
    ],
    [
      "a control plane that kubeadm has taken further than its kubelets",
      /own version is 1\.36\.3/,
      cluster("1.35.4"),
      { version: "1.35.5", clusterVersion: "1.36.3" },
    ],
    [
      "a minor of which no patch is known",
      /no patch of the minor after 1\.37/,
      cluster("1.37.2"),
      { version: "1.39.0" },
    ],
    [
      "nodes without an agent, by name",
      /^the node agent on w-2 has not reported yet/,
      changed(cluster("1.35.4"), "w-2", { agentReady: undefined, kubeletVersion: "1.35.3" }),
      { version: "1.35.4" },
    ],
    [
      "control planes too far ahead of a paused worker",
      /w-1 is paused at 1\.32\.1.*more than 3 minors/,
      changed(cluster("1.35.4"), "w-1", { kubeletVersion: "1.32.1" }),
      { version: "1.36.3", pausedNodes: ["w-1"] },
    ],
    [
      "workers ahead of a paused control plane",
      /cp-2 is paused at 1\.35\.4, so no worker can go to 1\.36\.3/,
      cluster("1.35.4"),
      { version: "1.36.3", pausedNodes: ["cp-2"], clusterVersion: "1.35.4" },
    ],
    [
      "a pool whose maxUnavailable is used up by someone's cordon",
      /w-1 of w cordoned outside of this rollout, and at most 1/,
      changed(cluster("1.36.3"), "w-1", { unschedulable: true }).map((node) =>
        node.name === "w-2" ? { ...node, kubeletVersion: "1.36.0" } : node,
      ),
      { version: "1.36.3" },
    ],
    [
      "a kubelet that is not a release",
      /w-1 runs the kubelet 1\.36\.0-rc\.1/,
      [nodeAt("w-1", "1.36.0-rc.1")],
      { version: "1.36.3" },
    ],
    ["a target that is not a version", /"v1\.36" is not a version/, cluster("1.35.4"), { version: "v1.36" }],
  ];
  for (const [what, words, nodes, { version, ...over }] of refused) {
    it(`refuses ${what}`, () => {
      const desired = desiredFor(nodes, version, over);
      const { refusals, standstill = [] } = planRollout(nodes, desired);
      assert.match(refusals.concat(standstill).join("; "), words);
    });
  }

  it("changes a node that a person cordoned first, and names those that wait until it is uncordoned", () => {
    const nodes = changed(cluster("1.36.2"), "w-2", { unschedulable: true });
    const plan = planRollout(nodes, desiredFor(nodes, "1.36.3"));
    assert.deepEqual(plan.refusals, []);
    assert.deepEqual(
      plan.steps.map(({ node }) => node),
      ["cp-1", "cp-2", "cp-3", "w-2"],
    );
    assert.match(plan.standstill ?? "", /^w-2 of w cordoned outside of this rollout, and at most 1/);
    assert.deepEqual(plan.held.map(nodeRolloutSteps.format), [
      "w-1: stays as it is until these are uncordoned: w-2",
    ]);
  });

  it("downgrades within a minor only with a note", () => {
    const nodes = changed(cluster("1.36.2"), "w-1", { kubeletVersion: "1.36.3" });
    const plan = planRollout(nodes, desiredFor(nodes, "1.36.2", { clusterVersion: "1.36.2" }));
    assert.deepEqual(plan.steps.map(describeRolloutStep), [
      "w-1 1.36.3 → 1.36.2 (cordon, drain, kubeadm upgrade node, uncordon)",
    ]);
    assert.deepEqual(plan.notes, ["w-1 runs 1.36.3, a newer patch: it goes down to 1.36.2"]);
  });
});

describe("next steps", () => {
  it("completes an open node before it begins another, at that node's desired version", () => {
    const open = {
      changesAllowed: true,
      agentReady: false,
      desired: desiredSoftware({ software: {} }, "1.36.3", { controlPlane: false, pool: "workers" }),
    };
    const nodes = changed(cluster("1.35.4"), "cp-2", open);
    const next = nextSteps(nodes, desiredFor(nodes, "1.36.3", { clusterVersion: "1.36.3" }));
    assert.deepEqual(next.begin, []);
    assert.deepEqual(next.finish.map(describeRolloutStep), [
      "cp-2 1.35.4 → 1.36.3 (begun by an earlier run: cordon, drain, kubeadm upgrade node, uncordon)",
    ]);
  });

  it("only closes a node that completed a pass before the one whose version its own kubelet gave the cluster", () => {
    const told = desiredSoftware({ software: {} }, "1.35.4", { controlPlane: false, pool: "workers" });
    const nodes = changed(cluster("1.35.4"), "w-2", {
      changesAllowed: true,
      unschedulable: true,
      desired: told,
    });
    const next = nextSteps(nodes, desiredFor(nodes, "1.36.3", { clusterVersion: "1.35.4" }));
    assert.deepEqual(next.finish.map(describeRolloutStep), [
      "w-2 1.35.4 (begun by an earlier run: uncordon)",
    ]);
  });

  it("begins no node beside one that an earlier run left open, even within maxUnavailable", () => {
    const nodes = ["a-1", "a-2", "a-3"].map((name) => nodeAt(name, "1.36.0"));
    const desired = desiredFor(nodes, "1.36.3", { pools: poolsOf(nodes, { a: { maxUnavailable: 3 } }) });
    const next = nextSteps(changed(nodes, "a-1", { changesAllowed: true, agentReady: false }), desired);
    assert.deepEqual([next.finish.map(({ node }) => node), next.begin], [["a-1"], []]);
  });

  it("closes a completed node before those ahead of it are upgraded again", () => {
    const told = desiredSoftware({ software: {} }, "1.35.4", { controlPlane: false, pool: "workers" });
    const nodes = ["a-1", "a-2", "a-3"].map((name) => nodeAt(name, "1.35.4"));
    const desired = desiredFor(nodes, "1.36.3", { pools: poolsOf(nodes, { a: { maxUnavailable: 3 } }) });
    const ended = changed(nodes, "a-3", { changesAllowed: true, unschedulable: true, desired: told });
    assert.deepEqual(
      nextSteps(ended, desired).finish.map(({ node, to }) => `${node} ${to}`),
      ["a-3 1.35.4"],
    );
    const opened = changed(nodes, "a-1", { changesAllowed: true, desired: told });
    assert.deepEqual(
      nextSteps(opened, desired).finish.map(({ node, to }) => `${node} ${to}`),
      ["a-1 1.36.3"],
    );
  });

  it("changes the desired version of a node whose earlier one is not available", () => {
    const open = {
      changesAllowed: true,
      agentReady: false,
      desired: desiredSoftware({ software: {} }, "1.36.2", { controlPlane: false, pool: "workers" }),
    };
    const nodes = changed(cluster("1.36.1"), "w-1", open);
    const [step] = nextSteps(nodes, desiredFor(nodes, "1.36.1", { clusterVersion: "1.36.1" })).finish;
    assert.equal(step?.to, "1.36.1");
  });

  it("waits for a control plane that is not Ready before it upgrades another", () => {
    const nodes = changed(cluster("1.35.4"), "cp-3", { ready: false, reason: "KubeletNotReady: x" });
    const next = nextSteps(nodes, desiredFor(nodes, "1.36.3", { clusterVersion: "1.35.4" }));
    assert.deepEqual([next.begin, next.waiting], [[], ["cp-3 is not Ready: KubeletNotReady: x"]]);
  });

  it("upgrades up to maxUnavailable while the pool's own nodes are away", () => {
    const nodes = ["a-1", "a-2", "a-3"].map((name) => nodeAt(name, "1.36.0"));
    const desired = desiredFor(nodes, "1.36.3", { pools: poolsOf(nodes, { a: { maxUnavailable: 2 } }) });
    const opened = changed(nodes, "a-1", { changesAllowed: true });
    assert.deepEqual(
      nextSteps(opened, desired, { begun: ["a-1"] }).begin.map(({ node }) => node),
      ["a-2"],
    );
  });
});
