import { API_SERVER_PORT, ETCD_CLIENT_PORT, ETCD_PEER_PORT } from "../../../../lib/validation/ports";
import { KUBELET_PORT, NODE_PORT_RANGE, SSH_PORT } from "../../../../lib/validation/ports";

/** Kinds of pod networks, by the ports that they need. */
export type PodNetworkKind = "bridge" | "cilium" | "calico" | "flannel" | "other";

/** Ports that the machines of a cluster have to accept for one purpose, from any sender. */
export interface OpenPort {
  /** Part of the resources' names; names the purpose. */
  name: string;
  /** Name or IANA number of a protocol; absent for every protocol. */
  protocol?: string;
  /** First and last port; absent for all ports of the protocol. */
  ports?: readonly [number, number];
  why: string;
}

const tcp = (port: number, last = port) => ({ protocol: "tcp", ports: [port, last] as const });

/** Ports of the cluster itself, for any pod network. */
export const CLUSTER_PORTS = {
  api: { ...tcp(API_SERVER_PORT), name: "api", why: "the Kubernetes API for foresail and for people" },
  apiNodes: { ...tcp(API_SERVER_PORT), name: "api-nodes", why: "the Kubernetes API for kubelets and pods" },
  etcd: { ...tcp(ETCD_CLIENT_PORT, ETCD_PEER_PORT), name: "etcd", why: "etcd among the control planes" },
  kubelet: { ...tcp(KUBELET_PORT), name: "kubelet", why: "the kubelet, for the API server and for metrics" },
  icmp: { name: "icmp", protocol: "icmp", why: "path MTU discovery and ping" },
} as const satisfies Record<string, OpenPort>;

/** Returns the port of SSH on the machines. */
export function sshPort(port = SSH_PORT): OpenPort {
  return { name: "ssh", ...tcp(port), why: "SSH, by which foresail works" };
}

/** Node ports, of both protocols. */
export const NODE_PORTS: readonly OpenPort[] = ["tcp", "udp"].map((protocol) => ({
  name: `node-ports-${protocol}`,
  protocol,
  ports: NODE_PORT_RANGE,
  why: "Services of type NodePort and LoadBalancer",
}));

/** Ports that the nodes have to accept from each other for the pods. */
export const POD_NETWORK_PORTS: Readonly<Record<PodNetworkKind, readonly OpenPort[]>> = {
  flannel: [{ name: "flannel", protocol: "udp", ports: [8472, 8472], why: "VXLAN of Flannel" }],
  cilium: [
    { name: "cilium-vxlan", protocol: "udp", ports: [8472, 8472], why: "VXLAN of Cilium" },
    { name: "cilium-health", ...tcp(4240), why: "health checks of Cilium" },
  ],
  calico: [
    { name: "calico-bgp", ...tcp(179), why: "BGP of Calico" },
    { name: "calico-typha", ...tcp(5473), why: "Typha of Calico" },
    { name: "calico-ipip", protocol: "4", why: "IP in IP of Calico" },
    { name: "calico-vxlan", protocol: "udp", ports: [4789, 4789], why: "VXLAN of Calico" },
  ],
  bridge: [{ name: "pods", why: "pods without encapsulation, as the built-in network sends them" }],
  other: [{ name: "pods", why: "whatever the chart or manifest of the pod network sends" }],
};
