import {
  CLUSTER_PORTS,
  NODE_PORTS,
  POD_NETWORK_PORTS,
  sshPort,
  type OpenPort,
  type PodNetworkKind,
} from "../../kubeadm/plan/network-ports";

/** Who may reach a port: blocks of addresses, or every machine of one of the cluster's security groups. */
type RuleSource = { cidrs: readonly string[] } | { group: SecurityGroupName };

/** The two security groups of a cluster: every machine has "nodes", control planes "control-planes" besides. */
export const SECURITY_GROUPS = ["nodes", "control-planes"] as const;

export type SecurityGroupName = (typeof SECURITY_GROUPS)[number];

/** One thing that the cluster's machines accept. */
export interface SecurityRule extends OpenPort {
  /** Which machines accept it. */
  group: SecurityGroupName;
  from: RuleSource;
}

export interface DesiredSecurity {
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
  /** The machines' own block, when load balancers in it lead to Services. */
  serviceLoadBalancerCidr?: string;
}

/** What the machines of a cluster accept, and nothing else; everything may leave them. */
export function securityRules(desired: DesiredSecurity): SecurityRule[] {
  const nodes = { group: "nodes" } as const;
  const controlPlanes = { group: "control-planes" } as const;
  const given = (group: SecurityGroupName, cidrs: readonly string[], port: OpenPort): SecurityRule[] =>
    cidrs.length === 0 ? [] : [{ ...port, group, from: { cidrs } }];
  const balancer = desired.loadBalancerCidr ? [desired.loadBalancerCidr] : [];
  const serviceBalancers = desired.serviceLoadBalancerCidr ? [desired.serviceLoadBalancerCidr] : [];
  return [
    ...given("nodes", desired.ssh, sshPort(desired.sshPort)),
    ...given("control-planes", desired.api, CLUSTER_PORTS.api),
    { ...CLUSTER_PORTS.apiNodes, group: "control-planes", from: nodes },
    ...given("control-planes", balancer, {
      ...CLUSTER_PORTS.api,
      name: "api-load-balancer",
      why: "the load balancer in front of the API",
    }),
    { ...CLUSTER_PORTS.etcd, group: "control-planes", from: controlPlanes },
    { ...CLUSTER_PORTS.kubelet, group: "nodes", from: nodes },
    { ...CLUSTER_PORTS.icmp, group: "nodes", from: nodes },
    ...POD_NETWORK_PORTS[desired.podNetwork].map((port): SecurityRule => ({
      ...port,
      group: "nodes",
      from: nodes,
    })),
    ...NODE_PORTS.flatMap((port) => given("nodes", desired.nodePorts, port)),
    ...NODE_PORTS.flatMap((port) =>
      // the same rule twice is a conflict for the cloud
      given("nodes", without(serviceBalancers, desired.nodePorts), {
        ...port,
        name: `service-load-balancers-${port.protocol}`,
        why: "load balancers of Services",
      }),
    ),
  ];
}

function without(blocks: readonly string[], given: readonly string[]): string[] {
  return blocks.filter((block) => !given.includes(block));
}
