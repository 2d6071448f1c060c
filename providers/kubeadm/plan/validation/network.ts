import { ipv4Issue, parseIpv4 } from "../../../../lib/validation/addresses";
import {
  cidrContains,
  cidrIssue,
  cidrsOverlap,
  cidrSize,
  formatCidr,
  parseCidr,
} from "../../../../lib/validation/cidr";
import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { quoted } from "../../../../lib/text/quote";

/** Blocks that pods and services can't use: this host, loopback, link-local, multicast and reserved. */
const UNUSABLE = ["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"];

/** Prefix of each node's block, a /24 of the pod block (the default of kube-controller-manager). */
const NODE_PREFIX = 24;

function unusableIssue(text: string): string | undefined {
  const block = parseCidr(text);
  const hit = UNUSABLE.map(parseCidr).find((unusable) => block && unusable && cidrsOverlap(block, unusable));
  return (
    hit &&
    `${quoted(text)} overlaps ${formatCidr(hit)}, which is not routed; choose e.g. a block of 10.0.0.0/8`
  );
}

/** Returns what is wrong with the pod block, or undefined. Kubernetes allows at most 2^16 node blocks in it. */
export function podCidrIssue(text: string): string | undefined {
  const wrong = cidrIssue(text) ?? unusableIssue(text);
  if (wrong) return wrong;
  const prefix = parseCidr(text)?.prefix ?? 0;
  if (prefix > NODE_PREFIX)
    return `${quoted(text)} is too small: each node takes a /${NODE_PREFIX}; write e.g. a /16`;
  if (prefix < NODE_PREFIX - 16)
    return `${quoted(text)} is larger than Kubernetes allows; write a /${NODE_PREFIX - 16} or smaller`;
  return undefined;
}

/**
 * Returns what is wrong with the service block, or undefined. kubeadm needs at least 10 addresses, the API server
 * allows at most 20 bits.
 */
export function serviceCidrIssue(text: string): string | undefined {
  const wrong = cidrIssue(text) ?? unusableIssue(text);
  if (wrong) return wrong;
  const prefix = parseCidr(text)?.prefix ?? 0;
  if (prefix > 28)
    return `${quoted(text)} is too small for the services of a cluster; write a /28 or larger, e.g. a /16`;
  if (prefix < 12) return `${quoted(text)} is larger than Kubernetes allows; write a /12 or smaller`;
  return undefined;
}

/** Returns an issue when values for Cilium's chart replace the whole `ipam`, so that pods lose the cluster's blocks. */
export function ciliumValuesIssues(values: Readonly<Record<string, unknown>>): ValidationIssue[] {
  const { ipam } = values;
  const mode: unknown =
    typeof ipam === "object" && ipam !== null ? (ipam as { mode?: unknown }).mode : undefined;
  if (!Object.hasOwn(values, "ipam") || (typeof mode === "string" && mode !== "")) return [];
  const message =
    "has no mode, and replaces what foresail sets, so that pods would get addresses outside of network.podCidr; add mode: kubernetes";
  return [{ path: ["ipam"], message }];
}

interface NetworkBlocks {
  podCidr: string;
  serviceCidr: string;
}

/** Returns an issue when pods and services share addresses. Ignores malformed blocks, which have their own rules. */
export function blocksOverlapIssues(network: NetworkBlocks): ValidationIssue[] {
  const pods = parseCidr(network.podCidr);
  const services = parseCidr(network.serviceCidr);
  if (!pods || !services || !cidrsOverlap(pods, services)) return [];
  const message = `${quoted(network.podCidr)} overlaps serviceCidr ${quoted(network.serviceCidr)}; choose two blocks that share no address`;
  return [{ path: ["network", "podCidr"], message }];
}

/** Returns an issue when the pod block has fewer /24 blocks than machines. */
export function podBlockSizeIssues(network: NetworkBlocks, machines: number): ValidationIssue[] {
  const pods = parseCidr(network.podCidr);
  if (!pods || pods.prefix > NODE_PREFIX) return [];
  const room = cidrSize(pods) / 2 ** (32 - NODE_PREFIX);
  if (room >= machines) return [];
  const message = `${quoted(network.podCidr)} has room for ${room} nodes (a /${NODE_PREFIX} each) and there are ${machines} machines; write a larger block`;
  return [{ path: ["network", "podCidr"], message }];
}

interface AddressedMachine {
  address?: string | undefined;
  internalAddress?: string | undefined;
}

/** Returns an issue when a machine's address is in the pod or service block, or no internal IPv4 address is known. */
export function machineAddressIssues(
  network: NetworkBlocks,
  machine: AddressedMachine,
  path: ValidationIssue["path"],
): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  if (machine.internalAddress === undefined && machine.address !== undefined) {
    const why = ipv4Issue(machine.address);
    if (why) {
      const message = `is missing; the machines must reach each other at an IPv4 address, and the address (${quoted(machine.address)}) is not one that they can use`;
      issues.push({ path: [...path, "internalAddress"], message });
    }
  }
  for (const field of ["address", "internalAddress"] as const) {
    const text = machine[field];
    const bits = text === undefined ? undefined : parseIpv4(text);
    for (const blockName of ["podCidr", "serviceCidr"] as const) {
      const block = parseCidr(network[blockName]);
      if (bits === undefined || !block || !cidrContains(block, bits)) continue;
      const message = `${quoted(text)} is in cluster.network.${blockName} ${quoted(network[blockName])}; choose a block outside the machines' network`;
      issues.push({ path: [...path, field], message });
    }
  }
  return issues;
}
