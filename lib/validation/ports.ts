/** Node ports that Kubernetes listens on (kubernetes.io "Ports and Protocols"), and SSH. */
const TAKEN: Readonly<Record<number, string>> = {
  22: "SSH",
  2379: "etcd",
  2380: "etcd",
  2381: "etcd",
  6443: "the API server",
  10248: "the kubelet",
  10249: "kube-proxy",
  10250: "the kubelet",
  10256: "kube-proxy",
  10257: "kube-controller-manager",
  10259: "kube-scheduler",
};

/** The default range for Services of type NodePort, which kube-proxy uses on every node. */
const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;

function ownerOf(port: number): string | undefined {
  return port >= FIRST_NODE_PORT && port <= LAST_NODE_PORT
    ? `node ports (${FIRST_NODE_PORT} to ${LAST_NODE_PORT})`
    : TAKEN[port];
}

/** Returns the issue of the port of the proxy on every node, or undefined. */
export function loopbackPortIssue(port: number): string | undefined {
  const owner = ownerOf(port);
  return owner && `${port} is taken by ${owner} on every node; choose another, e.g. 8443`;
}

/** Returns the issue of the API's port on a load balancer or a control plane, or undefined. */
export function apiPortIssue(port: number): string | undefined {
  const owner = port === 6443 ? undefined : ownerOf(port);
  return owner && `${port} is taken by ${owner}; choose another, e.g. 6443`;
}
