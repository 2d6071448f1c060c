import { isKnown } from "../../lib/unknown";
import { API_SERVER_PORT, SSH_PORT } from "../../lib/validation/ports";
import { type Violation, isOwn, objectsOf, type PolicyResource, type ResourceRule } from "./rule";

/** The names that foresail gives to its rules for SSH and the API, whatever their ports. */
const GUARDED_NAMES = ["ssh", "api"];
const OPENSTACK_NAME = /-(?:nodes-ssh|control-planes-api)(?:-|$)/;

/** Blocks with a shorter prefix are as good as everyone. */
const SHORTEST_PREFIX = { ipv4: 8, ipv6: 16 };

/** Returns the text of a block; empty for everyone. */
const blockOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns whether a block contains everyone, or a large part of all addresses. */
function isWorld(block: string): boolean {
  if (block === "") return true;
  const [, prefix] = /^[0-9a-fA-F.:]+\/(\d{1,3})$/.exec(block) ?? [];
  return prefix !== undefined && Number(prefix) < SHORTEST_PREFIX[block.includes(":") ? "ipv6" : "ipv4"];
}

/** A rule for incoming traffic of any cloud. */
interface Opening {
  /** CIDR block; empty for everyone. */
  readonly from: string;
  readonly protocol: unknown;
  /** First and last port; all when undefined. */
  readonly ports: readonly [unknown, unknown];
  readonly isGuarded: boolean;
}

/** Returns the incoming traffic that a resource lets through. */
function openings(resource: PolicyResource): Opening[] {
  const { type, name, values } = resource;
  if (type === "openstack:networking/secGroupRule:SecGroupRule") {
    if (values["direction"] !== "ingress" || values["remoteGroupId"] !== undefined) return [];
    const { portRangeMin, portRangeMax, remoteIpPrefix, protocol } = values;
    const from = blockOf(remoteIpPrefix);
    return [{ from, protocol, ports: [portRangeMin, portRangeMax], isGuarded: OPENSTACK_NAME.test(name) }];
  }
  if (type === "openstack:loadbalancer/listener:Listener") {
    const { allowedCidrs, protocolPort: port } = values;
    if (!isKnown(allowedCidrs ?? [])) return [];
    const blocks = Array.isArray(allowedCidrs) && allowedCidrs.length > 0 ? allowedCidrs : [undefined];
    return blocks.map((block: unknown) => ({
      from: blockOf(block),
      protocol: "tcp",
      ports: [port, port],
      isGuarded: false,
    }));
  }
  if (!isOwn(resource, "TumblebugSecurityGroup")) return [];
  return objectsOf(values["rules"])
    .filter(({ direction }) => direction === "inbound")
    .map(({ cidr, protocol, ports, name: rule }) => ({
      from: blockOf(cidr),
      protocol,
      ports: Array.isArray(ports) ? (ports as [unknown, unknown]) : [undefined, undefined],
      isGuarded: GUARDED_NAMES.includes(String(rule)),
    }));
}

const isTcp = (protocol: unknown): boolean =>
  [undefined, "", "tcp", "6", "all", "any"].includes(protocol as string | undefined);

function includesPort([first, last]: Opening["ports"], port: number): boolean {
  if (first === undefined) return true;
  return typeof first === "number" && first <= port && port <= (typeof last === "number" ? last : first);
}

const nameOf = (port: number): string =>
  ({ [SSH_PORT]: "SSH", [API_SERVER_PORT]: "the Kubernetes API" })[port] ?? "a guarded port";

/** SSH and the Kubernetes API are open to chosen networks only. */
export const worldOpenAccess: ResourceRule<{ ports: number[] }> = {
  name: "no-world-open-access",
  description: "SSH and the Kubernetes API are open to chosen networks only.",
  parameters: {
    ports: {
      type: "array",
      items: { type: "integer" },
      description: "The guarded ports; foresail's own rules for SSH and the API are guarded with any port.",
      default: [SSH_PORT, API_SERVER_PORT],
    },
  },
  check: (resource, { ports }) =>
    openings(resource)
      .filter(({ from, protocol }) => isTcp(protocol) && isWorld(from))
      .flatMap((opening): Violation[] => {
        const port = ports.find((each) => includesPort(opening.ports, each));
        if (port === undefined && !opening.isGuarded) return [];
        const [first] = opening.ports;
        const what =
          typeof first === "number" ? `${nameOf(port ?? first)} (port ${port ?? first})` : "every port";
        const { from } = opening;
        return [
          {
            problem: `${what} is open to ${from || "everyone"}`,
            fix: "list the networks that need it in access.ssh and access.api of the stack file",
          },
        ];
      }),
};
