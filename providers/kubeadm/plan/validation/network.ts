import { cidrContains, cidrIssue, cidrsOverlap, cidrSize } from "../../../../lib/validation/addresses";
import { formatCidr, ipv4Issue, parseCidr, parseIpv4 } from "../../../../lib/validation/addresses";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { quoted } from "../../../../lib/text/quote";
import { API_SERVER_PORT, apiPortIssue, SSH_PORT } from "../../../../lib/validation/ports";
import type { Role } from "../cluster/machine";
import { NODE_PREFIX } from "./network-plugin";

/** Blocks that pods and services can't use: this host, loopback, link-local, multicast and reserved. */
const UNUSABLE = ["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"];

function unusableIssue(text: string): string | undefined {
  const block = parseCidr(text);
  const hit = UNUSABLE.map(parseCidr).find((unusable) => block && unusable && cidrsOverlap(block, unusable));
  return (
    hit &&
    `${quoted(text)} overlaps ${formatCidr(hit)}, which is not routed; choose e.g. a block of 10.0.0.0/8`
  );
}

/**
 * Returns what is wrong with the pod block, or undefined. Kubernetes allows at most 2^16 node blocks in it. Whether it is
 * large enough for one depends on each node's block.
 */
export function podSubnetIssue(text: string): string | undefined {
  const tooSmall = `: each node takes a /${NODE_PREFIX}; write e.g. a /16`;
  return blockIssue(text, [NODE_PREFIX - 16, 28], tooSmall);
}

/** Returns what is wrong with the service block. kubeadm needs 10 addresses, the API server allows 20 bits. */
export function serviceSubnetIssue(text: string): string | undefined {
  return blockIssue(text, [12, 28], " for the services of a cluster; write a /28 or larger, e.g. a /16");
}

function blockIssue(text: string, [least, most]: [number, number], tooSmall: string): string | undefined {
  const wrong = cidrIssue(text) ?? unusableIssue(text);
  const prefix = parseCidr(text)?.prefix ?? 0;
  if (wrong || (least <= prefix && prefix <= most)) return wrong;
  if (prefix > most) return `${quoted(text)} is too small${tooSmall}`;
  return `${quoted(text)} is larger than Kubernetes allows; write a /${least} or smaller`;
}

/** CIDR blocks of pods and Services; malformed ones have their own rules and are ignored by the others. */
export interface NetworkBlocks {
  podSubnet: string;
  serviceSubnet: string;
  /** Prefix of each node's block of the pod block. @default 24 */
  nodePrefix?: number | undefined;
}

const BLOCKS = ["podSubnet", "serviceSubnet"] as const;

/** Returns an issue when pods and services share addresses. */
export function blocksOverlapIssues({ podSubnet, serviceSubnet }: NetworkBlocks): ValidationIssue[] {
  const overlap = `${quoted(podSubnet)} overlaps serviceSubnet ${quoted(serviceSubnet)}; choose two blocks that share no address`;
  return issueAt(["network", "podSubnet"], blocksOverlap(podSubnet, serviceSubnet) ? overlap : undefined);
}

/** Returns an issue for each block of the cluster that shares addresses with a block of machines. */
export function machineBlockIssues(
  cidr: string,
  blocks: NetworkBlocks,
  path: ValidationIssue["path"],
): ValidationIssue[] {
  return BLOCKS.flatMap((field) => {
    const overlap = `${quoted(cidr)} overlaps cluster.network.${field} ${quoted(blocks[field])}; choose blocks that share no address`;
    return issueAt(path, blocksOverlap(cidr, blocks[field]) ? overlap : undefined);
  });
}

/** Returns whether two blocks as text share an address; false if one is malformed. */
export function blocksOverlap(one: string, other: string): boolean {
  const [left, right] = [parseCidr(one), parseCidr(other)];
  return left !== undefined && right !== undefined && cidrsOverlap(left, right);
}

/** Returns the block of the cluster that an address is in, as a user reads it. */
function blockOf(address: string | undefined, blocks: NetworkBlocks): string | undefined {
  const bits = parseIpv4(address ?? "");
  const field = BLOCKS.find((name) => {
    const block = parseCidr(blocks[name]);
    return bits !== undefined && block && cidrContains(block, bits);
  });
  return field && `cluster.network.${field} ${quoted(blocks[field])}`;
}

/**
 * Returns an issue when the pod block has fewer blocks of a node than machines.
 *
 * @param field list of the machines, when it is not in the same section as the network
 */
export function podBlockSizeIssues(
  { podSubnet, nodePrefix = NODE_PREFIX }: Pick<NetworkBlocks, "podSubnet" | "nodePrefix">,
  machines: number,
  field?: string,
): ValidationIssue[] {
  const pods = parseCidr(podSubnet);
  if (!pods || pods.prefix > nodePrefix) return [];
  const room = cidrSize(pods) / 2 ** (32 - nodePrefix);
  if (room >= machines) return [];
  const message = `${quoted(podSubnet)} has room for ${room} nodes (a /${nodePrefix} each) and there are ${machines} machines; write a larger block`;
  if (field === undefined) return issueAt(["network", "podSubnet"], message);
  return issueAt([field], `cluster.network.podSubnet ${message}`);
}

/** Returns an issue when a machine's address is in the pod or service block, or no internal IPv4 address is known. */
export function machineAddressIssues(
  network: NetworkBlocks,
  machine: { address?: string; internalAddress?: string },
): ValidationIssue[] {
  const { address, internalAddress } = machine;
  const missing =
    internalAddress === undefined && address !== undefined && ipv4Issue(address) !== undefined
      ? `is missing; the machines must reach each other at an IPv4 address, and the address (${quoted(address)}) is not one that they can use`
      : undefined;
  const inside = (["address", "internalAddress"] as const).flatMap((field) => {
    const block = blockOf(machine[field], network);
    const message = `${quoted(machine[field])} is in ${block}; choose a block outside the machines' network`;
    return issueAt([field], block && message);
  });
  return [...issueAt(["internalAddress"], missing), ...inside];
}

/** Input of the endpoint's rules; values that could not be read are absent. */
export interface ValidatedEndpoint {
  loopback?: { port?: number };
  external?: { host?: string };
}

export interface EndpointMachine {
  name?: string;
  role?: Role;
  address?: string;
  internalAddress?: string;
  /** Port of SSH. */
  port: number;
  apiServer?: string;
}

/** Returns the issues of the API's endpoint against network blocks and machines; paths begin with "endpoint". */
export function endpointIssues(
  endpoint: ValidatedEndpoint | undefined,
  blocks: NetworkBlocks,
  machines: readonly EndpointMachine[],
): ValidationIssue[] {
  const host = endpoint?.external?.host;
  const loopbackPort = endpoint?.loopback?.port;
  const sameAsSsh = machines.find(
    ({ port, address }) => port === loopbackPort && port !== SSH_PORT && !isLoopback(address ?? ""),
  );
  const taken =
    sameAsSsh &&
    `${loopbackPort} is the port of SSH on ${sameAsSsh.name ?? "a machine"}; choose another, e.g. 7443`;
  return [
    ...issueAt(["endpoint", "external", "host"], externalHostIssue(host ?? "", blocks, machines)),
    ...issueAt(["endpoint", "loopback", "port"], taken),
  ];
}

function isLoopback(host: string): boolean {
  return /^127\./.test(host) || /(^|\.)localhost(\.localdomain)?\.?$/i.test(host);
}

function externalHostIssue(
  host: string,
  blocks: NetworkBlocks,
  machines: readonly EndpointMachine[],
): string | undefined {
  if (isLoopback(host))
    return `${quoted(host)} is each machine itself, and no load balancer; write its address, or use endpoint.loopback`;
  const unusable = parseIpv4(host) === undefined ? undefined : ipv4Issue(host);
  if (unusable !== undefined) return unusable;
  const block = blockOf(host, blocks);
  if (block)
    return `${quoted(host)} is in ${block}, which nodes reach only inside the cluster; write an address outside of it`;
  const same = host.toLowerCase();
  const worker = machines.find(
    ({ role, address, internalAddress }) =>
      role === "worker" && (address?.toLowerCase() === same || internalAddress === same),
  );
  return (
    worker &&
    `${quoted(host)} is the worker ${quoted(worker.name)}, which has no API server; write the address of the load balancer`
  );
}

/** Returns an issue when the port of a machine's API server belongs to another program on the same machine. */
export function machineApiPortIssues(machine: EndpointMachine): ValidationIssue[] {
  const [, host, port] = /^([^:]+):(\d{1,5})$/.exec(machine.apiServer ?? "") ?? [];
  // behind a port forward, the port is not the machine's own
  if (host === undefined || isLoopback(host)) return [];
  if (host !== machine.address && host !== machine.internalAddress) return [];
  const isSsh = Number(port) === machine.port;
  const ssh = `${port} is the port of SSH there; choose another, e.g. ${API_SERVER_PORT}`;
  return issueAt(["apiServer"], apiPortIssue(Number(port)) ?? (isSsh ? ssh : undefined));
}
