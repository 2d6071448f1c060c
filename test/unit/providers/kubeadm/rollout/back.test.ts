import assert from "node:assert/strict";
import { missedOf, refuseBack } from "../../../../../providers/kubeadm/plan/rollout/back";
import type { OnFailure } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { desiredFor, nodeAt, poolsOf } from "./nodes";
import { describeRolloutStep, planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";

const change = (...names: string[]) => names.map((name) => ({ name, from: "1", to: "2" }));
const PATCH = { from: "1.36.2", to: "1.36.3" };
const MINOR = { from: "1.35.4", to: "1.36.3" };
const SAME = { from: "1.36.3", to: "1.36.3" };
const KUBERNETES = change("kubelet", "kubeadm", "kubectl");

describe("a node on which a change fails", () => {
  const cases: [string, Parameters<typeof refuseBack>[0], OnFailure | undefined, RegExp | undefined][] = [
    [
      "a configuration of a worker",
      { controlPlane: false, ...SAME, software: change("configuration") },
      undefined,
      undefined,
    ],
    [
      "a configuration of a control plane",
      { controlPlane: true, ...SAME, software: change("configuration") },
      undefined,
      undefined,
    ],
    [
      "a configuration, when it is to stop",
      { controlPlane: false, ...SAME, software: change("configuration") },
      "stop",
      /onFailure is stop/,
    ],
    ["containerd", { controlPlane: false, ...SAME, software: change("containerd") }, undefined, undefined],
    [
      "packages",
      { controlPlane: false, ...SAME, software: change("os-packages", "configuration") },
      undefined,
      /packages of the distribution do not go back/,
    ],
    [
      "a repair",
      { controlPlane: false, ...SAME, software: change("drift") },
      "back",
      /files that were put back stay so/,
    ],
    [
      "a configuration beside certificates that were due",
      { controlPlane: true, ...SAME, software: change("configuration", "certificates") },
      undefined,
      undefined,
    ],
    [
      "certificates alone",
      { controlPlane: true, ...SAME, software: change("certificates") },
      undefined,
      /renewed certificates stay/,
    ],
    [
      "nothing",
      { controlPlane: false, ...SAME, software: [] },
      "back",
      /already has what it would go back to/,
    ],
    [
      "a patch of a worker by default",
      { controlPlane: false, ...PATCH, software: KUBERNETES },
      undefined,
      /only with rollout\.onFailure: back/,
    ],
    ["a patch of a worker", { controlPlane: false, ...PATCH, software: KUBERNETES }, "back", undefined],
    [
      "a minor version of a worker",
      { controlPlane: false, ...MINOR, software: KUBERNETES },
      "back",
      undefined,
    ],
    ["a patch of a control plane", { controlPlane: true, ...PATCH, software: KUBERNETES }, "back", undefined],
    [
      "a minor version of a control plane",
      { controlPlane: true, ...MINOR, software: KUBERNETES },
      "back",
      /does not go back from 1\.36\.3 to 1\.35\.4, since an earlier minor/,
    ],
  ];
  for (const [what, step, onFailure, expected] of cases)
    it(`${expected === undefined ? "goes back from" : "says why it stays after"} ${what}`, () => {
      const why = refuseBack(step, onFailure);
      if (expected === undefined) assert.equal(why, undefined);
      else assert.match(why ?? "", expected);
    });

  it("is known by what it misses", () => {
    assert.deepEqual(missedOf({ kubelet: "2", configuration: "b" }, { kubelet: "2" }), {
      configuration: "b",
    });
  });
});

describe("a rollout without a drain for patch versions", () => {
  const lines = (from: string, over = {}) => {
    const nodes = ["cp-1", "w-1"].map((name) => nodeAt(name, from, over));
    const desired = { clusterVersion: from, keepsPods: true, pools: poolsOf(nodes) };
    return planRollout(nodes, desiredFor(nodes, "1.36.3", desired)).steps.map(describeRolloutStep);
  };

  it("cordons nodes that keep their pods", () => {
    assert.deepEqual(lines("1.36.2"), [
      "cp-1 1.36.2 → 1.36.3 (cordon, keep its pods, kubeadm upgrade apply, uncordon)",
      "w-1 1.36.2 → 1.36.3 (cordon, keep its pods, kubeadm upgrade node, uncordon)",
    ]);
  });

  it("drains for a minor version", () => {
    assert.match(
      lines("1.35.4").join(),
      /cordon, drain, kubeadm upgrade apply.*cordon, drain, kubeadm upgrade node/,
    );
  });

  it("drains for what else needs it in the same step", () => {
    const nodes = [nodeAt("cp-1", "1.36.2")];
    const desired = { clusterVersion: "1.36.2", keepsPods: true, software: { containerd: "2.2.0" } };
    const [step] = planRollout(nodes, desiredFor(nodes, "1.36.3", desired)).steps;
    assert.equal(step?.drains, true);
    assert.match(describeRolloutStep(step), /\(cordon, drain, /);
  });
});
