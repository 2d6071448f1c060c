import assert from "node:assert/strict";
import { componentsOf, tagsOf } from "../../../../../providers/kubeadm/plan/facts/components";
import { KUBERNETES_MINORS } from "../../../../../providers/kubeadm/plan/cluster/kubernetes-minors";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import { exampleSpecification } from "../machine/examples";

const asked = (facts: Record<string, string>, over: Partial<ClusterSpecification> = {}) => ({
  machine: { name: "cp-1", role: "control-plane" as const },
  podNetwork: "bridge" as const,
  specification: exampleSpecification({ version: "1.36.3", ...over }),
  reading: { at: 0, facts: new Map(Object.entries(facts)) },
});

const IMAGES =
  "registry.k8s.io/kube-apiserver:v1.36.3\nr:5000/coredns/coredns:v1.13.1\nr:5000/pause:3.10.1\nr:5000/etcd:3.6.6-0";
const OF_TABLE = "etcd 3.6.8-0, CoreDNS v1.14.2, pause 3.10.2";

describe("the components of a new cluster", () => {
  it("are those of the kubeadm that is there, and else those of the table", () => {
    assert.equal(componentsOf(asked({ images: IMAGES })), "etcd 3.6.6-0, CoreDNS v1.13.1, pause 3.10.1");
    assert.equal(componentsOf(asked({})), OF_TABLE);
    assert.equal(componentsOf(asked({ images: "unread" })), OF_TABLE);
  });

  it("are not guessed for a version that the table does not have, and unread if kubeadm did not answer", () => {
    const version = "1.36.99";
    assert.equal(componentsOf(asked({}, { version })), undefined);
    assert.equal(componentsOf(asked({ images: "unread" }, { version })), "etcd, CoreDNS and pause unread");
  });

  for (const [name, kubeadm, expected] of [
    [
      "another tag of etcd and of the DNS",
      {
        clusterConfiguration: { etcd: { local: { imageTag: "3.6.9-0" } }, dns: { imageTag: "v1.15.0" } },
      },
      "etcd 3.6.9-0, CoreDNS v1.15.0, pause 3.10.2",
    ],
    [
      "an etcd of others",
      { clusterConfiguration: { etcd: { external: {} } } },
      "CoreDNS v1.14.2, pause 3.10.2",
    ],
    ["no DNS", { clusterConfiguration: { dns: { disabled: true } } }, "etcd 3.6.8-0, pause 3.10.2"],
    ["no addon", { initConfiguration: { skipPhases: ["addon"] } }, "etcd 3.6.8-0, pause 3.10.2"],
    [
      "no addon for the DNS",
      { initConfiguration: { skipPhases: ["addon/coredns"] } },
      "etcd 3.6.8-0, pause 3.10.2",
    ],
  ] as const)
    it(`are those of the configuration: ${name}`, () => {
      assert.equal(componentsOf(asked({}, { kubeadm } as never)), expected);
    });

  it("are in the table for the newest patch of each minor that is supported", () => {
    for (const [minor, { patch }] of Object.entries(KUBERNETES_MINORS))
      if (Number(minor.split(".")[1]) >= 31) assert.ok(tagsOf(patch), `npm run minors: ${patch} has no tags`);
  });
});
