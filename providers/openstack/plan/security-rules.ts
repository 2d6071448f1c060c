import {
  CLUSTER_PORTS,
  NODE_PORTS,
  POD_NETWORK_PORTS,
  sshPort,
  type OpenPort,
  type PodNetworkKind,
} from "../../kubeadm/plan/network-ports";

/** Allowed sources of a rule: CIDR blocks, or all machines of one of the cluster's security groups. */
type RuleSource = { cidrs: readonly string[] } | { group: SecurityGroupName };

/** The two security groups of a cluster: all machines are in "nodes", control planes also in "control-planes". */
export const SECURITY_GROUPS = ["nodes", "control-planes"] as const;

export type SecurityGroupName = (typeof SECURITY_GROUPS)[number];

/** A rule for incoming traffic. */
export interface SecurityRule extends OpenPort {
  /** Security group of the machines that accept the traffic. */
  group: SecurityGroupName;
  from: RuleSource;
}

export interface DesiredSecurity {
  /** CIDR blocks that may connect to SSH. */
  ssh: readonly string[];
  /** @default 22 */
  sshPort?: number;
  /** CIDR blocks that may connect to the Kubernetes API. */
  api: readonly string[];
  /** CIDR blocks that may connect to node ports. */
  nodePorts: readonly string[];
  podNetwork: PodNetworkKind;
  /** CIDR block of the machines' network; set if it has a load balancer for the API. */
  loadBalancerCidr?: string;
  /** CIDR block of the machines' network; set if it has load balancers for Services. */
  serviceLoadBalancerCidr?: string;
}

/** Returns all rules for incoming traffic of a cluster's machines. Outgoing traffic is not restricted. */
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
      // Neutron answers with a conflict when the same rule is created twice.
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
