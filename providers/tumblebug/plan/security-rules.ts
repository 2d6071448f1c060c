import {
  CLUSTER_PORTS,
  NODE_PORTS,
  POD_NETWORK_PORTS,
  sshPort,
  type OpenPort,
} from "../../kubeadm/plan/endpoint/network-ports";
import type { PodNetworkKind } from "../../kubeadm/plan/endpoint/network-ports";
import type { FirewallRule } from "./model";
import { cloudKind } from "./requirements";

/** The two security groups of a connection: all machines are in "nodes", control planes also in "controlPlanes". */
type SecurityGroupRole = "nodes" | "controlPlanes";

export interface DesiredSecurity {
  /** CIDR blocks that may connect to SSH. */
  ssh: readonly string[];
  /** @default 22 */
  sshPort?: number;
  /** CIDR blocks that may connect to the Kubernetes API. */
  api: readonly string[];
  /** CIDR blocks that may connect to node ports. */
  nodePorts: readonly string[];
  /** CIDR blocks of the cluster's machines. */
  nodes: readonly string[];
  /** CIDR block of pods, used for pod networks without encapsulation. */
  pods: string;
  podNetwork: PodNetworkKind;
  /** Whether machines communicate over the Internet. */
  overInternet: boolean;
}

/** A firewall rule with its purpose. */
export interface ExplainedRule extends FirewallRule {
  name: string;
  why: string;
}

/**
 * Returns all inbound rules for the machines of one connection. Tumblebug's security groups support only CIDR blocks as
 * sources, so machines are allowed by their blocks.
 */
export function securityRules(role: SecurityGroupRole, desired: DesiredSecurity): ExplainedRule[] {
  const from = (cidrs: readonly string[], ...ports: OpenPort[]) =>
    ports.flatMap((port) => [...new Set(cidrs)].flatMap((cidr) => inbound(port, cidr)));
  if (role === "controlPlanes")
    return [
      ...from(desired.api, CLUSTER_PORTS.api),
      ...from(desired.nodes, CLUSTER_PORTS.apiNodes, CLUSTER_PORTS.etcd),
    ];
  const bare = desired.podNetwork === "bridge" || desired.podNetwork === "other";
  const encrypted: OpenPort[] =
    desired.overInternet && desired.podNetwork === "cilium"
      ? [{ name: "cilium-wireguard", protocol: "udp", ports: [51871, 51871], why: "WireGuard of Cilium" }]
      : [];
  return [
    ...from(desired.ssh, sshPort(desired.sshPort)),
    ...from(desired.nodes, CLUSTER_PORTS.kubelet, CLUSTER_PORTS.icmp),
    ...from(
      bare ? [...desired.nodes, desired.pods] : desired.nodes,
      ...podPorts(desired.podNetwork),
      ...encrypted,
    ),
    ...from(desired.nodePorts, ...NODE_PORTS),
  ];
}

/**
 * Returns the rules in the form that a cloud accepts, as CB-Ladybug 0.7.2 writes them: Cloudit has no rules for ICMP, and
 * Tencent's have the word ALL in place of ports.
 */
export function rulesFor(provider: string, rules: readonly ExplainedRule[]): ExplainedRule[] {
  const kind = cloudKind(provider);
  return rules
    .filter(({ protocol }) => kind !== "cloudit" || protocol !== "icmp")
    .map((rule) => (kind === "tencent" && rule.protocol === "icmp" ? { ...rule, icmp: "ALL" } : rule));
}

/** Returns the ports of a pod network. Calico uses VXLAN, because Tumblebug's rules do not support IP in IP. */
function podPorts(kind: PodNetworkKind): readonly OpenPort[] {
  const unused = ["calico-ipip", "calico-bgp"];
  return POD_NETWORK_PORTS[kind].filter(({ name }) => !unused.includes(name));
}

function inbound({ name, protocol, ports, why }: OpenPort, cidr: string): ExplainedRule[] {
  const rule = { direction: "inbound", cidr, why } as const;
  if (protocol === "icmp") return [{ ...rule, name, protocol }];
  if (protocol === "tcp" || protocol === "udp")
    return [{ ...rule, name, protocol, ports: ports ?? [1, 65_535] }];
  if (protocol !== undefined) throw new Error(`a security group of Tumblebug has no protocol ${protocol}`);
  return [
    { ...rule, name: `${name}-tcp`, protocol: "tcp", ports: [1, 65_535] },
    { ...rule, name: `${name}-udp`, protocol: "udp", ports: [1, 65_535] },
  ];
}

/** Returns a key to compare rules. Servers return rules in another order and with other descriptions. */
function ruleKey({ direction, protocol, ports, cidr }: FirewallRule): string {
  return [direction, protocol, ports?.join("-") ?? "", cidr].join(" ");
}

export function rulesNotIn<Rule extends FirewallRule>(
  list: readonly FirewallRule[],
  rules: readonly Rule[],
): Rule[] {
  const known = new Set(list.map(ruleKey));
  return rules.filter((rule) => !known.has(ruleKey(rule)));
}

/** Returns a rule as text: "tcp 6443 to 192.0.2.0/24 (the Kubernetes API for foresail and for people)". */
export function ruleWords({ protocol, ports, cidr, why }: ExplainedRule): string {
  const [first, last] = ports ?? [];
  const range = first === undefined ? "" : first === last ? ` ${first}` : ` ${first}-${last}`;
  return `${protocol}${range} to ${cidr} (${why})`;
}
