import assert from "node:assert/strict";
import { runtimeFindings } from "../../../../cli/forecast/runtimes";
import { planReport } from "../../../../cli/forecast/report";
import { cleanFacts, plainNode } from "./facts";

const judge = (containerRuntimeVersion: string, target: string, kubeletVersion = "1.35.4") =>
  runtimeFindings([{ name: "w-1", kubeletVersion, containerRuntimeVersion }], target).map(
    ({ weight }) => weight,
  );

describe("container runtimes that the target does not support", () => {
  const cases: [runtime: string, target: string, expected: string[], kubelet?: string][] = [
    ["containerd://1.7.27", "1.35.4", []],
    ["containerd://1.7.27", "1.36.3", ["warns"]],
    ["containerd://1.7.27", "1.37.0", ["warns"]],
    ["containerd://1.7.27", "1.38.0", ["blocks"]],
    ["containerd://2.0.0", "1.38.0", []],
    ["containerd://v2.2.1", "1.38.0", []],
    ["containerd://1.5.9", "1.26.0", ["blocks"]],
    ["containerd://1.5.9", "1.25.16", []],
    ["containerd://1.5.9", "1.36.3", ["blocks"]],
    ["containerd://1.6.15-k3s1", "1.26.0", []],
    ["cri-o://1.27.4", "1.38.0", ["blocks"]],
    ["cri-o://1.27.4", "1.36.3", []],
    ["cri-o://1.28.0", "1.38.0", []],
    ["docker://20.10.21", "1.24.0", ["blocks"], "1.23.17"],
    ["docker://20.10.21", "1.25.0", [], "1.24.17"],
    ["docker://20.10.21", "1.23.17", [], "1.22.0"],
    ["", "1.38.0", []],
    ["containerd://dev", "1.38.0", []],
  ];
  for (const [runtime, target, expected, kubelet] of cases)
    it(`${expected[0] ?? "accepts"}: ${runtime || "no runtime"} with ${target}`, () => {
      assert.deepEqual(judge(runtime, target, kubelet), expected);
    });

  it("names the nodes of each version once, and cuts a long list", () => {
    const nodes = Array.from({ length: 40 }, (_, index) => ({
      name: `w-${index}`,
      kubeletVersion: "1.37.0",
      containerRuntimeVersion: index < 20 ? "containerd://1.7.27" : "containerd://1.6.1",
    }));
    const findings = runtimeFindings(nodes, "1.38.0");
    assert.equal(findings.length, 2);
    assert.match(
      findings[0]?.words ?? "",
      /^w-0, .*w-11 and 8 more: Kubernetes 1\.38\.0 does not support containerd:\/\/1\.7\.27: the kubelet does not start/,
    );
    assert.equal(findings[0]?.fix, "upgrade it to containerd 2.0.0 or later first");
  });

  it("is part of the forecast, for nodes that are not at the target yet", () => {
    const node = (name: string, version: string) => {
      const plain = plainNode(name, version);
      const nodeInfo = { kubeletVersion: `v${version}`, containerRuntimeVersion: "containerd://1.7.27" };
      return { ...plain, status: { ...plain.status, nodeInfo } };
    };
    const nodes = [node("cp-1", "1.36.3"), node("w-1", "1.35.4")];
    const report = planReport(cleanFacts({ nodes, clusterVersion: "1.36.3", pods: [] }), {
      target: "1.36.3",
      allow: { force: false, deleteEmptyDirData: false },
      maxUnavailable: 1,
      intermediates: [],
      now: new Date("2026-11-21T12:00:00Z"),
    });
    const found = report.findings.filter(({ about }) => about === "runtime");
    assert.deepEqual(
      found.map(({ weight, words }) => [weight, words.slice(0, 30)]),
      [["warns", "w-1: Kubernetes 1.36.3 does no"]],
    );
  });
});
