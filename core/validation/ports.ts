/** Ports of every node that Kubernetes itself listens on (kubernetes.io "Ports and Protocols"), and SSH. */
const TAKEN: Readonly<Record<number, string>> = {
  22: "SSH",
  2379: "etcd",
  2380: "etcd",
  6443: "the API server",
  10248: "the kubelet",
  10249: "kube-proxy",
  10250: "the kubelet",
  10256: "kube-proxy",
  10257: "kube-controller-manager",
  10259: "kube-scheduler",
};

/** What is wrong with the port of the proxy on every node, or undefined. */
export function loopbackPortMistake(port: number): string | undefined {
  const owner = TAKEN[port];
  return owner && `${port} is taken by ${owner} on every node; choose another, e.g. 8443`;
}
