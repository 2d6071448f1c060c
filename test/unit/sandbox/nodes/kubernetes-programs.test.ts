import assert from "node:assert/strict";
import { planImages, type KubernetesPrograms } from "../../../../sandbox/nodes/kubernetes-programs";

const names = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kube-proxy",
  "etcd",
  "coredns",
  "pause",
];
const programs = Object.fromEntries([
  ["version", "1.36.3"],
  ...["kubeadm", "kubelet", "kubectl", "etcdctl", "etcdutl", ...names].map((name) => [
    name,
    `/programs/${name}`,
  ]),
]) as unknown as KubernetesPrograms;
const references = names.map((name) => `registry.k8s.io/${name === "coredns" ? "coredns/coredns" : name}:v1`);

describe("the images of a bundle", () => {
  it("have the names that kubeadm asks for, with the programs where pods look for them", () => {
    const planned = planImages(references, programs);
    assert.deepEqual(
      planned.map(({ reference }) => reference),
      references,
    );
    assert.deepEqual(planned.map(({ targets }) => targets).slice(-4), [
      ["/usr/local/bin/kube-proxy"],
      ["/usr/local/bin/etcd", "/usr/local/bin/etcdctl", "/usr/local/bin/etcdutl"],
      ["/coredns"],
      ["/pause"],
    ]);
    assert.deepEqual(
      planned.filter(({ iptables }) => iptables).map(({ programs: files }) => files),
      [["/programs/kube-proxy"]],
    );
  });

  it("refuse an image without a known program, and a program that is not requested", () => {
    assert.throws(
      () => planImages([...references, "registry.k8s.io/new:1"], programs),
      /asks for registry\.k8s\.io\/new:1/,
    );
    assert.throws(() => planImages(references.slice(1), programs), /names no image for kube-apiserver/);
  });
});
