import {
  CLUSTER_PORTS,
  NODE_PORTS,
  POD_NETWORK_PORTS,
  sshPort,
  type OpenPort,
  type PodNetworkKind,
} from "../../kubeadm/plan/endpoint/network-ports";

/** The two security groups of a cluster: all machines are in "nodes", control planes also in "control-planes". */
export const SECURITY_GROUPS = ["nodes", "control-planes"] as const;

export type SecurityGroupName = (typeof SECURITY_GROUPS)[number];

/** A rule for incoming traffic: the machines of `group` accept it from a CIDR block, or else from those of `peers`. */
export interface SecurityRule extends OpenPort {
  group: SecurityGroupName;
  cidr?: string;
  peers?: SecurityGroupName;
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
  const { api, nodePorts, loadBalancerCidr, serviceLoadBalancerCidr } = desired;
  const given = (group: SecurityGroupName, cidrs: readonly string[], port: OpenPort): SecurityRule[] =>
    cidrs.map((cidr) => ({ ...port, group, cidr }));
  const balancers = serviceLoadBalancerCidr ? [serviceLoadBalancerCidr] : [];
  // Neutron answers with a conflict when the same rule is created twice.
  const others = balancers.filter((block) => !nodePorts.includes(block));
  return [
    ...given("nodes", desired.ssh, sshPort(desired.sshPort)),
    ...given("control-planes", api, CLUSTER_PORTS.api),
    { ...CLUSTER_PORTS.apiNodes, group: "control-planes", peers: "nodes" },
    ...given("control-planes", loadBalancerCidr ? [loadBalancerCidr] : [], {
      ...CLUSTER_PORTS.api,
      name: "api-load-balancer",
      why: "the load balancer in front of the API",
    }),
    { ...CLUSTER_PORTS.etcd, group: "control-planes", peers: "control-planes" },
    ...[CLUSTER_PORTS.kubelet, CLUSTER_PORTS.icmp, ...POD_NETWORK_PORTS[desired.podNetwork]].map(
      (port): SecurityRule => ({ ...port, group: "nodes", peers: "nodes" }),
    ),
    ...NODE_PORTS.flatMap((port) => given("nodes", nodePorts, port)),
    ...NODE_PORTS.flatMap((port) => {
      const name = `service-load-balancers-${port.protocol}`;
      return given("nodes", others, { ...port, name, why: "load balancers of Services" });
    }),
  ];
}
