/** Who may reach a port: blocks of addresses, or every machine of one of the cluster's security groups. */
export type RuleSource = { cidrs: readonly string[] } | { group: SecurityGroupName };

/** The two security groups of a cluster: every machine has "nodes", control planes "control-planes" besides. */
export const SECURITY_GROUPS = ["nodes", "control-planes"] as const;

export type SecurityGroupName = (typeof SECURITY_GROUPS)[number];

/** One thing that the cluster's machines accept. */
export interface SecurityRule {
  /** Part of the resources' names; says what it is for. */
  name: string;
  /** Which machines accept it. */
  group: SecurityGroupName;
  from: RuleSource;
  /** A protocol's name or IANA number; absent: every protocol. */
  protocol?: string;
  /** First and last port; absent: all of the protocol. */
  ports?: readonly [number, number];
  why: string;
}

/** The pod networks that need different ports. */
export type PodNetworkKind = "bridge" | "cilium" | "calico" | "flannel" | "other";

export interface SecurityWish {
  /** Blocks that may open SSH. */
  ssh: readonly string[];
  /** @default 22 */
  sshPort?: number;
  /** Blocks that may open the API. */
  api: readonly string[];
  /** Blocks that may open node ports. */
  nodePorts: readonly string[];
  podNetwork: PodNetworkKind;
  /** The machines' own block, when a load balancer in it opens the API. */
  loadBalancerCidr?: string;
}

const POD_NETWORK: Readonly<Record<PodNetworkKind, readonly Omit<SecurityRule, "group" | "from">[]>> = {
  flannel: [{ name: "flannel", protocol: "udp", ports: [8472, 8472], why: "VXLAN of Flannel" }],
  cilium: [
    { name: "cilium-vxlan", protocol: "udp", ports: [8472, 8472], why: "VXLAN of Cilium" },
    { name: "cilium-health", protocol: "tcp", ports: [4240, 4240], why: "health checks of Cilium" },
  ],
  calico: [
    { name: "calico-bgp", protocol: "tcp", ports: [179, 179], why: "BGP of Calico" },
    { name: "calico-typha", protocol: "tcp", ports: [5473, 5473], why: "Typha of Calico" },
    { name: "calico-ipip", protocol: "4", why: "IP in IP of Calico" },
    { name: "calico-vxlan", protocol: "udp", ports: [4789, 4789], why: "VXLAN of Calico" },
  ],
  bridge: [{ name: "pods", why: "pods without encapsulation, as the built-in network sends them" }],
  other: [{ name: "pods", why: "whatever the chart or manifest of the pod network sends" }],
};

/** What the machines of a cluster accept, and nothing else; everything may leave them. */
export function securityRules(wish: SecurityWish): SecurityRule[] {
  const nodes = { group: "nodes" } as const;
  const controlPlanes = { group: "control-planes" } as const;
  const tcp = (port: number) => ({ protocol: "tcp", ports: [port, port] as const });
  const given = (cidrs: readonly string[], rule: Omit<SecurityRule, "from">): SecurityRule[] =>
    cidrs.length === 0 ? [] : [{ ...rule, from: { cidrs } }];
  return [
    ...given(wish.ssh, {
      name: "ssh",
      group: "nodes",
      ...tcp(wish.sshPort ?? 22),
      why: "SSH, by which foresail works",
    }),
    ...given(wish.api, {
      name: "api",
      group: "control-planes",
      ...tcp(6443),
      why: "the Kubernetes API for foresail and for people",
    }),
    {
      name: "api-nodes",
      group: "control-planes",
      from: nodes,
      ...tcp(6443),
      why: "the Kubernetes API for kubelets and pods",
    },
    ...given(wish.loadBalancerCidr ? [wish.loadBalancerCidr] : [], {
      name: "api-load-balancer",
      group: "control-planes",
      ...tcp(6443),
      why: "the load balancer in front of the API",
    }),
    {
      name: "etcd",
      group: "control-planes",
      from: controlPlanes,
      protocol: "tcp",
      ports: [2379, 2380],
      why: "etcd among the control planes",
    },
    {
      name: "kubelet",
      group: "nodes",
      from: nodes,
      ...tcp(10250),
      why: "the kubelet, for the API server and for metrics",
    },
    { name: "icmp", group: "nodes", from: nodes, protocol: "icmp", why: "path MTU discovery and ping" },
    ...POD_NETWORK[wish.podNetwork].map((rule): SecurityRule => ({ ...rule, group: "nodes", from: nodes })),
    ...["tcp", "udp"].flatMap((protocol) =>
      given(wish.nodePorts, {
        name: `node-ports-${protocol}`,
        group: "nodes",
        protocol,
        ports: [30000, 32767],
        why: "Services of type NodePort and LoadBalancer",
      }),
    ),
  ];
}
