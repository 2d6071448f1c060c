import { ipv4Issue, parseIpv4 } from "../../../../lib/validation/addresses";
import { cidrContains, parseCidr } from "../../../../lib/validation/cidr";
import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { apiPortIssue } from "../../../../lib/validation/ports";
import { quoted } from "../../../../lib/text/quote";

/** Input of the endpoint's rules; values that could not be read are absent. */
export interface EndpointFacts {
  loopbackPort?: number | undefined;
  externalHost?: string | undefined;
  podCidr: string;
  serviceCidr: string;
  machines: readonly EndpointMachine[];
}

interface EndpointMachine {
  name?: string | undefined;
  role?: "control-plane" | "worker" | undefined;
  address?: string | undefined;
  internalAddress?: string | undefined;
  /** Port of SSH. */
  port: number;
  apiServer?: string | undefined;
}

/** Returns the issues of the API's endpoint against network blocks and machines; paths begin with "endpoint". */
export function endpointIssues(facts: EndpointFacts): ValidationIssue[] {
  const host = facts.externalHost;
  const message = host === undefined ? undefined : externalHostIssue(host, facts);
  const external = message === undefined ? [] : [{ path: ["endpoint", "external", "host"], message }];
  const { loopbackPort } = facts;
  const sameAsSsh = facts.machines.find(
    ({ port, address }) => port === loopbackPort && port !== 22 && !isLoopback(address ?? ""),
  );
  if (sameAsSsh === undefined) return external;
  return [
    ...external,
    {
      path: ["endpoint", "loopback", "port"],
      message: `${loopbackPort} is the port of SSH on ${sameAsSsh.name ?? "a machine"}; choose another, e.g. 7443`,
    },
  ];
}

function isLoopback(host: string): boolean {
  return /^127\./.test(host) || /(^|\.)localhost(\.localdomain)?\.?$/i.test(host);
}

function externalHostIssue(host: string, facts: EndpointFacts): string | undefined {
  if (isLoopback(host))
    return `${quoted(host)} is each machine itself, and no load balancer; write its address, or use endpoint.loopback`;
  const bits = parseIpv4(host);
  const unusable = bits === undefined ? undefined : ipv4Issue(host);
  if (unusable !== undefined) return unusable;
  for (const field of ["podCidr", "serviceCidr"] as const) {
    const block = parseCidr(facts[field]);
    if (bits !== undefined && block && cidrContains(block, bits))
      return `${quoted(host)} is in cluster.network.${field} ${quoted(facts[field])}, which nodes reach only inside the cluster; write an address outside of it`;
  }
  const same = host.toLowerCase();
  const worker = facts.machines.find(
    ({ role, address, internalAddress }) =>
      role === "worker" && (address?.toLowerCase() === same || internalAddress === same),
  );
  return (
    worker &&
    `${quoted(host)} is the worker ${quoted(worker.name)}, which has no API server; write the address of the load balancer`
  );
}

/** Returns an issue when the port of a machine's API server belongs to another program on the same machine. */
export function machineApiPortIssues(
  machine: EndpointMachine,
  path: ValidationIssue["path"],
): ValidationIssue[] {
  const [, host, port] = /^([^:]+):(\d{1,5})$/.exec(machine.apiServer ?? "") ?? [];
  // behind a port forward, the port is not the machine's own
  if (host === undefined || isLoopback(host)) return [];
  if (host !== machine.address && host !== machine.internalAddress) return [];
  const message =
    apiPortIssue(Number(port)) ??
    (Number(port) === machine.port
      ? `${port} is the port of SSH there; choose another, e.g. 6443`
      : undefined);
  return message === undefined ? [] : [{ path: [...path, "apiServer"], message }];
}
