import assert from "node:assert/strict";
import { runtimeRefusals, versionsOnRuntimes } from "../../../../../providers/kubeadm/plan/rollout/runtimes";

const change = (name: string, to: string) => ({ name, from: "1.0.0", to });

describe("container runtimes of nodes that get another version", () => {
  const of = (runtimes: Record<string, string>, target: string) =>
    runtimeRefusals(
      new Map(Object.entries(runtimes)),
      new Map(Object.keys(runtimes).map((name) => [name, target])),
    );

  it("are refused, once for each, when the version does not run on them", () => {
    const runtimes = {
      "cp-1": "containerd://1.6.20",
      "w-1": "containerd://1.6.20",
      "w-2": "containerd://1.7.24",
      "w-3": "containerd://2.0.0",
    };
    const why =
      "the kubelet does not start with a runtime that can't tell it the cgroup driver. Upgrade it to containerd 2.0.0 or later first";
    assert.deepEqual(of(runtimes, "1.38.1"), [
      `cp-1, w-1: Kubernetes 1.38.1 does not run on containerd://1.6.20: ${why}`,
      `w-2: Kubernetes 1.38.1 does not run on containerd://1.7.24: ${why}`,
    ]);
  });

  it("are accepted where they are only old, unknown, or a later version of Kubernetes does not run on them", () => {
    for (const runtime of ["containerd://1.7.24", "containerd://simulated", "", "other://1.0.0"])
      assert.deepEqual(of({ "w-1": runtime }, "1.37.2"), [], runtime);
    assert.deepEqual(of({ "w-1": "" }, "1.38.0"), []);
  });

  it("do not count where the same step changes containerd, or only something else", () => {
    const steps = [
      { node: "cp-1", software: [change("kubelet", "1.38.0"), change("kubeadm", "1.38.0")] },
      { node: "w-1", software: [change("kubelet", "1.38.0"), change("containerd", "2.2.1-1")] },
      { node: "w-2", software: [change("configuration", "abc")] },
    ];
    assert.deepEqual([...versionsOnRuntimes(steps)], [["cp-1", "1.38.0"]]);
  });
});
