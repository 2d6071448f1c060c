import { ipv4Issue, parseIpv4 } from "../../../../lib/validation/addresses";
import { cidrContains, parseCidr } from "../../../../lib/validation/cidr";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { API_SERVER_PORT, apiPortIssue, SSH_PORT } from "../../../../lib/validation/ports";
import { quoted } from "../../../../lib/text/quote";
import type { Role } from "../machine";
import type { NetworkBlocks } from "./network";

/** Input of the endpoint's rules; values that could not be read are absent. */
export interface EndpointFacts {
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
  endpoint: EndpointFacts | undefined,
  blocks: NetworkBlocks,
  machines: readonly EndpointMachine[],
): ValidationIssue[] {
  const host = endpoint?.external?.host;
  const loopbackPort = endpoint?.loopback?.port;
  const sameAsSsh = machines.find(
    ({ port, address }) => port === loopbackPort && port !== SSH_PORT && !isLoopback(address ?? ""),
  );
  return [
    ...issueAt(
      ["endpoint", "external", "host"],
      host === undefined ? undefined : externalHostIssue(host, blocks, machines),
    ),
    ...issueAt(
      ["endpoint", "loopback", "port"],
      sameAsSsh &&
        `${loopbackPort} is the port of SSH on ${sameAsSsh.name ?? "a machine"}; choose another, e.g. 7443`,
    ),
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
  const bits = parseIpv4(host);
  const unusable = bits === undefined ? undefined : ipv4Issue(host);
  if (unusable !== undefined) return unusable;
  for (const field of ["podCidr", "serviceCidr"] as const) {
    const block = parseCidr(blocks[field]);
    if (bits !== undefined && block && cidrContains(block, bits))
      return `${quoted(host)} is in cluster.network.${field} ${quoted(blocks[field])}, which nodes reach only inside the cluster; write an address outside of it`;
  }
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
  const message =
    apiPortIssue(Number(port)) ??
    (Number(port) === machine.port
      ? `${port} is the port of SSH there; choose another, e.g. ${API_SERVER_PORT}`
      : undefined);
  return issueAt(["apiServer"], message);
}
