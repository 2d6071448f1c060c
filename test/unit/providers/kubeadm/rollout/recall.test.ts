import assert from "node:assert/strict";
import fc from "fast-check";
import { hasGivenUp, type RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { recalledRequests } from "../../../../../providers/kubeadm/plan/rollout/recall";
import { describeRolloutStep } from "../../../../../providers/kubeadm/plan/rollout/step-lines";
import { desiredFor, nodeAt } from "./nodes";

const VERSION = "1.36.3";
const CONFIGURATION = { "control-plane": "m1.k1.p1", worker: "m1.k1" };

/** A node that an earlier run has opened, cordoned and asked for something. */
function begunNode(
  name: string,
  asked: Record<string, string>,
  over: Partial<RolloutNode> = {},
): RolloutNode {
  const node = nodeAt(name, VERSION);
  const current = { ...node.current, configuration: name.startsWith("cp") ? "m1.k1.p1" : "m1.k1" };
  return {
    ...node,
    changesAllowed: true,
    unschedulable: true,
    agentReady: false,
    current,
    desired: { ...current, ...asked },
    ...over,
  };
}

const linesOf = (nodes: RolloutNode[], software: Record<string, string> = {}) =>
  planRollout(
    nodes,
    desiredFor(nodes, VERSION, { clusterVersion: VERSION, configuration: CONFIGURATION, software }),
  ).steps.map(describeRolloutStep);

describe("a request of an earlier run that the configuration no longer has", () => {
  for (const [what, asked, line] of [
    [
      "a configuration",
      { configuration: "m1.k2" },
      "w-1: back to configuration m1.k1 (an earlier run asked for m1.k2) (complete what had begun on it, uncordon)",
    ],
    [
      "a version of containerd",
      { containerd: "9.9.9" },
      "w-1: back to containerd none (an earlier run asked for 9.9.9) (complete what had begun on it, uncordon)",
    ],
    [
      "a patch of Kubernetes, once for its three programs",
      { kubelet: "1.36.9", kubeadm: "1.36.9", kubectl: "1.36.9" },
      "w-1: back to Kubernetes 1.36.3 (an earlier run asked for 1.36.9) (complete what had begun on it, uncordon)",
    ],
    [
      "text of others, which is not shown",
      { configuration: "x), y: \u001b[31m" },
      "w-1: back to configuration m1.k1 (an earlier run asked for another) (complete what had begun on it, uncordon)",
    ],
  ] as const)
    it(`is a step: ${what}`, () => {
      assert.deepEqual(linesOf([nodeAt("cp-1", VERSION), begunNode("w-1", asked)]).slice(0, 1), [line]);
    });

  it("drains a node again that was uncordoned by hand", () => {
    const [line] = linesOf([begunNode("w-1", { configuration: "m1.k2" }, { unschedulable: false })]);
    assert.match(line ?? "", /\(cordon, drain, complete what had begun on it, uncordon\)$/);
  });

  it("leaves a node cordoned that was so before", () => {
    const [line] = linesOf([begunNode("w-1", { configuration: "m1.k2" }, { cordonedBefore: true })]);
    assert.match(line ?? "", /left cordoned\)$/);
  });

  it("uncordons a node that was so before, and that a person uncordoned since", () => {
    const [line] = linesOf([
      begunNode("w-1", { configuration: "m1.k2" }, { cordonedBefore: true, unschedulable: false }),
    ]);
    assert.match(line ?? "", /\(cordon, drain, complete what had begun on it, uncordon\)$/);
  });

  it("is not taken for a failure of what replaced it, whenever its agent reports it", () => {
    const wanted = { kubelet: VERSION, kubeadm: VERSION, kubectl: VERSION };
    const each = Object.keys(wanted).map((name) => `${name}@${VERSION}`);
    const asked = { version: VERSION, software: wanted };
    const node = (desired: Record<string, string>, finalFailure: string[]) =>
      nodeAt("w-1", VERSION, { desired, finalFailure });
    assert.equal(hasGivenUp(node(wanted, [...each, "containerd@9.9.9"]), asked), false);
    assert.equal(hasGivenUp(node(wanted, each), asked), true);
    assert.equal(hasGivenUp(node(wanted, [...each, "drift@none"]), asked), true);
    assert.equal(hasGivenUp(node({ ...wanted, containerd: "9.9.9" }, each), asked), true);
  });

  it("is not a step while the node does what is desired", () => {
    const node = begunNode("w-1", {}, { current: { configuration: "m1.k0" } });
    const wanted = { ...node.desired, configuration: "m1.k1" };
    assert.deepEqual(recalledRequests({ ...node, desired: wanted }, wanted), []);
  });

  it("leaves nothing that the agent would go on trying, whatever was asked for", () => {
    const versions = fc.dictionary(
      fc.constantFrom("configuration", "containerd", "os-packages", "kubelet"),
      fc.constantFrom("a", "b", "c"),
    );
    fc.assert(
      fc.property(versions, versions, versions, (desired, current, wanted) => {
        const recalled = recalledRequests({ desired, current }, wanted);
        const after: Record<string, string | undefined> = { ...desired, ...wanted };
        for (const { name, to } of recalled) after[name] = to;
        for (const [name, asked] of Object.entries(after)) {
          if (wanted[name] !== undefined) assert.equal(asked, wanted[name]);
          else assert.equal(asked ?? current[name], current[name]);
        }
      }),
    );
  });
});
