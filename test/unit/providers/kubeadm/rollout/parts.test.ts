import assert from "node:assert/strict";
import { annotationKeys, annotationValue } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { maxUnavailableCount } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { observeRolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { presentSkew } from "../../../../../providers/kubeadm/plan/rollout/state";
import {
  compareVersions,
  neededVersion,
  parseVersion,
} from "../../../../../providers/kubeadm/plan/rollout/versions";
import { nodeAt } from "./nodes";

describe("rollout's parts", () => {
  it("counts maxUnavailable: percent rounded down, at least one", () => {
    const counts = (
      [
        ["25%", 7],
        ["10%", 5],
        ["100%", 3],
        [2, 9],
        [0, 4],
      ] as const
    ).map(([value, size]) => maxUnavailableCount(value, size));
    assert.deepEqual(counts, [1, 1, 3, 2, 1]);
  });

  it("reads and compares versions", () => {
    assert.deepEqual(parseVersion("1.36.3"), { major: 1, minor: 36, patch: 3 });
    for (const text of ["v1.36.3", "1.36", "1.36.3-rc.1", ""]) assert.equal(parseVersion(text), undefined);
    assert.ok(compareVersions("1.9.10", "1.10.2") < 0);
    assert.equal(neededVersion("1.35.1", "1.36.3", []), "1.36.3");
    const intermediates = ["1.34.2", "1.34.3"];
    assert.equal(neededVersion("1.33.1", "1.36.3", intermediates), "1.34.3");
    assert.equal(neededVersion("1.34.3", "1.36.3", intermediates), "1.35.4");
    assert.equal(neededVersion("1.37.1", "1.39.0", []), undefined);
  });

  it("reads a Node's annotations for any pattern", () => {
    const node = {
      metadata: {
        name: "w-1",
        labels: { "foresail/group": "workers" },
        annotations: {
          "x.node.example.com/changes-allowed": "true",
          "x.node.example.com/ready": "false",
          "x.node.example.com/message": "no space",
          "x.kubelet.example.com/desired-version": "v1.36.3",
          "x.containerd.example.com/current-version": "2.1.4",
        },
      },
      status: { nodeInfo: { kubeletVersion: "v1.35.4" } },
    };
    assert.deepEqual(observeRolloutNode(node, "x.[software].example.com"), {
      name: "w-1",
      controlPlane: false,
      pool: "workers",
      kubeletVersion: "1.35.4",
      ready: false,
      reason: "the kubelet has not reported",
      unschedulable: false,
      cordonedBefore: false,
      changesAllowed: true,
      agentReady: false,
      message: "no space",
      desired: { kubelet: "1.36.3" },
      current: { containerd: "2.1.4" },
    });
    assert.equal(annotationKeys().desired("kubelet"), "alpha.kubelet.caos.ch/desired-version");
    assert.deepEqual(
      [annotationValue("kubelet", "1.36.3"), annotationValue("containerd", "2.2.0")],
      ["v1.36.3", "2.2.0"],
    );
  });

  it("names what already violates the skew policy", () => {
    const nodes = [
      nodeAt("cp-1", "1.35.4"),
      nodeAt("w-1", "1.36.0"),
      nodeAt("w-2", "1.31.0"),
      nodeAt("w-3", "1.33.0"),
    ];
    assert.deepEqual(presentSkew(nodes), [
      "w-1's kubelet 1.36.0 is newer than the control plane cp-1 (1.35.4)",
      "w-2's kubelet 1.31.0 is more than 3 minors older than the control plane cp-1 (1.35.4)",
    ]);
  });
});
