export const SSH_PORT = 22;
export const API_SERVER_PORT = 6443;
export const ETCD_CLIENT_PORT = 2379;
export const ETCD_PEER_PORT = 2380;
export const KUBELET_PORT = 10_250;

/** The default range for Services of type NodePort, which kube-proxy uses on every node. */
export const NODE_PORT_RANGE = [30_000, 32_767] as const;

/** Node ports that Kubernetes listens on (kubernetes.io "Ports and Protocols"), and SSH. */
export const TAKEN_PORTS: Readonly<Record<number, string>> = {
  [SSH_PORT]: "SSH",
  [ETCD_CLIENT_PORT]: "etcd",
  [ETCD_PEER_PORT]: "etcd",
  2381: "etcd",
  [API_SERVER_PORT]: "the API server",
  10248: "the kubelet",
  10249: "kube-proxy",
  [KUBELET_PORT]: "the kubelet",
  10256: "kube-proxy",
  10257: "kube-controller-manager",
  10259: "kube-scheduler",
};

function ownerOf(port: number): string | undefined {
  const [first, last] = NODE_PORT_RANGE;
  return port >= first && port <= last ? `node ports (${first} to ${last})` : TAKEN_PORTS[port];
}

/** Returns the issue of the port of the proxy on every node, or undefined. */
export function loopbackPortIssue(port: number): string | undefined {
  const owner = ownerOf(port);
  return owner && `${port} is taken by ${owner} on every node; choose another, e.g. 7445`;
}

/** Returns the issue of the API's port on a load balancer or a control plane, or undefined. */
export function apiPortIssue(port: number): string | undefined {
  const owner = port === API_SERVER_PORT ? undefined : ownerOf(port);
  return owner && `${port} is taken by ${owner}; choose another, e.g. ${API_SERVER_PORT}`;
}
