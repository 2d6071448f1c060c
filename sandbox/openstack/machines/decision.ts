import type { BalancerListener } from "./balancer";

/** One IPv4 address of a server, as assigned by nova and Neutron. */
export interface MachineAddress {
  /** id of the port */
  readonly port: string;
  readonly mac: string;
  /** id of the network */
  readonly network: string;
  readonly cidr: string;
  /** null for a subnet without one */
  readonly gateway: string | null;
  readonly address: string;
}

/**
 * The desired state of a server from nova, or of a load balancer from Octavia; python/foresail_machines.py writes it.
 */
export interface MachineRequest {
  readonly name: string;
  readonly hostname: string;
  readonly power: "on" | "off";
  /** increases with each requested start and reboot */
  readonly boot: number;
  /** in the order of the ports */
  readonly addresses: readonly MachineAddress[];
  /** the keypair's public half; null for a server without one */
  readonly key: string | null;
  /** of a machine that replaces Octavia's amphora; python/amphorae.py writes it */
  readonly listeners?: readonly BalancerListener[];
}

/** The answer to nova. */
export interface MachineAnswer {
  readonly state: "running" | "stopped" | "failed";
  /** the request's number; with any other, nova keeps waiting */
  readonly boot: number;
  readonly message: string;
}

/** The state of a server's container. */
export type ContainerState = "running" | "stopped" | "none";

export type MachineAction = "create" | "start" | "restart" | "stop" | "remove" | "answer" | "nothing";

/**
 * Decides what to do for one server.
 * @param request undefined when the server was deleted
 * @param answer the last answer to nova
 */
export function decide(
  request: MachineRequest | undefined,
  container: ContainerState,
  answer: MachineAnswer | undefined,
): MachineAction {
  if (request === undefined) return "remove";
  const isAnswered = answer?.boot === request.boot;
  // a failed request is retried only when nova repeats it
  if (isAnswered && answer.state === "failed") return "nothing";
  if (request.power === "off") {
    if (container === "running") return "stop";
    return isAnswered && answer.state === "stopped" ? "nothing" : "answer";
  }
  switch (container) {
    case "none":
      return "create";
    case "stopped":
      return "start";
    case "running":
      if (answer === undefined || isAnswered) return answer?.state === "running" ? "nothing" : "answer";
      return answer.state === "running" ? "restart" : "answer";
  }
}

/** An address of the external network that is assigned to one port. */
export interface FloatingIp {
  readonly address: string;
  readonly port: string;
}

/**
 * Returns the floating IP of a server. A container has one link to the external network, so only the first in the order
 * of addresses counts.
 */
export function floatingIpOf(
  request: MachineRequest,
  floatingIps: readonly FloatingIp[],
): string | undefined {
  return floatingIps
    .filter(({ port }) => request.addresses.some((address) => address.port === port))
    .map(({ address }) => address)
    .sort()[0];
}
