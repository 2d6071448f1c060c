import { cidrsOverlap, parseCidr } from "../../../lib/validation/cidr";
import { nearest } from "../../../lib/validation/spelling";
import type { Slot } from "./groups";
import type { CloudSpec } from "./model";
import { cloudVmName, longestName } from "./names";
import type { Reason } from "./reasons";

/** Clouds that CB-Ladybug 0.7.2 supports, and the additional ones of current Tumblebug releases. */
export const PROVIDERS: readonly string[] = [
  ...[
    "aws",
    "gcp",
    "azure",
    "alibaba",
    "tencent",
    "openstack",
    "ibm",
    "cloudit",
    "ncpvpc",
    "ncp",
    "nhncloud",
  ],
  ...["nhn", "kt", "ktvpc", "ktcloud", "ktcloudvpc"],
];

/** CB-Spider's simulated clouds, whose machines accept no logins, except in tests. */
const SIMULATED = ["mock"];

/**
 * Returns the kind of a cloud. Current Tumblebug releases name a cloud that is registered at run time by its kind and a
 * name: "openstack-site01" (fixtures of 0.13, `connConfig/mock-site01-default`). An unknown name is returned unchanged.
 */
function cloudKind(provider: string): string {
  return [...PROVIDERS, ...SIMULATED].find((kind) => provider.startsWith(`${kind}-`)) ?? provider;
}

/** Minimum requirements of kubeadm: cores of a control plane, memory of every node. */
const LEAST_VCPUS = 2;
const LEAST_GIBIBYTES = 2;

/** Cloud, region and zone of a connection. */
export interface ConnectionFacts {
  provider: string;
  region: string;
  zone: string;
}

/** What a run requires of the server; plain values. */
export interface DesiredTumblebug {
  namespace: string;
  createNamespace: boolean;
  /** Name of the MCIS, or infra. */
  infrastructure: string;
  connections: { name: string; vNet: string; cidr: string }[];
  slots: Slot[];
  /** Whether the run needs a cloud load balancer. */
  loadBalancer: boolean;
  /** Whether to accept connections to CB-Spider's simulated clouds. */
  allowMock: boolean;
}

/** Facts about the server and its clouds; contains only what was requested. */
export interface TumblebugFacts {
  namespaceExists: boolean;
  /** Connection → its cloud, region and zone; undefined if the server has no such connection. */
  connections: Readonly<Record<string, ConnectionFacts | undefined>>;
  /** "<connection> <spec>" → machine type; undefined if the cloud has no such type. */
  specs: Readonly<Record<string, CloudSpec | undefined>>;
  /** "<connection> <image>" → whether the cloud has it; only from servers that can look it up. */
  images: Readonly<Record<string, boolean>>;
  /** Existing VNets with their CIDR blocks. */
  vNets: readonly { name: string; connection: string; cidr: string; isOurs: boolean }[];
  /** The existing MCIS or infra of the desired name. */
  infrastructure?: { status: string; isOurs: boolean };
}

/** An unmet requirement, with the configuration property and a reason that may include CB-Ladybug's code. */
export interface UnmetRequirement {
  property: string;
  reason: string;
}

/** Returns the key of a machine type or image in TumblebugFacts. */
export const factKey = (connection: string, name: string): string => `${connection} ${name}`;

/** Returns the unmet requirements of a run, before any change. Properties are paths in `foresail:tumblebug`. */
export function unmetTumblebug(desired: DesiredTumblebug, facts: TumblebugFacts): UnmetRequirement[] {
  if (!facts.namespaceExists && !desired.createNamespace)
    return [
      unmetRequirement(
        "namespace",
        `the server has no namespace "${desired.namespace}"; make it, or write \`createNamespace: true\``,
      ),
    ];
  const unmet = [
    ...unmetInfrastructure(desired, facts),
    ...desired.connections.flatMap((connection) => unmetConnection(connection.name, desired, facts)),
    ...desired.connections.flatMap((connection) => unmetBlock(connection, desired, facts)),
    ...desired.slots.flatMap((slot) => unmetSlot(slot, desired, facts)),
    ...unmetLoadBalancer(desired, facts),
  ];
  // Machines of one group have the same unmet requirements.
  return [...new Map(unmet.map((one) => [`${one.property} ${one.reason}`, one])).values()];
}

function unmetRequirement(field: string, words: string, code?: Reason): UnmetRequirement {
  return { property: `tumblebug.${field}`, reason: code === undefined ? words : `${words} (${code})` };
}

function unmetInfrastructure(
  { namespace, infrastructure }: DesiredTumblebug,
  { infrastructure: found }: TumblebugFacts,
): UnmetRequirement[] {
  if (found === undefined || found.isOurs) return [];
  return [
    unmetRequirement(
      "infrastructure",
      `the namespace "${namespace}" has an MCIS "${infrastructure}" that this stack has not made (${found.status || "empty"}); ` +
        "write another `infrastructure`, or delete that one",
      "AlreadyExistMCISFailedReason",
    ),
  ];
}

/** Returns the reason code for a missing connection, which depends on the role of its machines. */
function connectionReason(name: string, { slots }: DesiredTumblebug): Reason {
  return slots.some(({ connection, role }) => connection === name && role === "control-plane")
    ? "GetControlPlaneConnectionInfoFailedReason"
    : "GetWorkerConnectionInfoFailedReason";
}

function unmetConnection(
  name: string,
  desired: DesiredTumblebug,
  { connections }: TumblebugFacts,
): UnmetRequirement[] {
  if (!Object.hasOwn(connections, name)) return [];
  const found = connections[name];
  const path = `connections.${name}`;
  if (found === undefined)
    return [
      unmetRequirement(
        path,
        `the server has no connection "${name}"; register it there`,
        connectionReason(name, desired),
      ),
    ];
  const kind = cloudKind(found.provider);
  if (SIMULATED.includes(kind))
    return desired.allowMock
      ? []
      : [
          unmetRequirement(
            path,
            `the connection "${name}" leads to a pretended cloud ("${found.provider}"); take one of a real cloud`,
            "InvalidMCIRReason",
          ),
        ];
  if (PROVIDERS.includes(kind)) return [];
  const near = nearest(found.provider, PROVIDERS);
  return [
    unmetRequirement(
      path,
      `the connection "${name}" leads to the cloud "${found.provider}", which is none that is known` +
        (near === undefined ? "" : ` (do you mean "${near}"?)`),
      "InvalidMCIRReason",
    ),
  ];
}

/** Checks a VNet's CIDR block. Blocks must not overlap, because connected clouds need unique addresses. */
function unmetBlock(
  { name, vNet, cidr }: DesiredTumblebug["connections"][number],
  { connections }: DesiredTumblebug,
  { vNets }: TumblebugFacts,
): UnmetRequirement[] {
  const there = vNets.find((found) => found.name === vNet);
  if (there && !there.isOurs && there.cidr !== cidr)
    return [
      unmetRequirement(
        `connections.${name}.cidr`,
        `the VNet "${vNet}" is there and has the block ${there.cidr}; write \`cidr: ${there.cidr}\`, or another \`resources.prefix\``,
        "InvalidMCIRReason",
      ),
    ];
  const own = parseCidr(there?.cidr ?? cidr);
  return connections.flatMap((other) => {
    if (other.name >= name) return [];
    const block = vNets.find((found) => found.name === other.vNet)?.cidr ?? other.cidr;
    const theirs = parseCidr(block);
    if (!own || !theirs || !cidrsOverlap(own, theirs)) return [];
    return [
      unmetRequirement(
        `connections.${name}.cidr`,
        `the VNet "${vNet}" and that of the connection "${other.name}" (${block}) share addresses; write a block of its own`,
        "InvalidMCIRReason",
      ),
    ];
  });
}

function unmetSlot(slot: Slot, desired: DesiredTumblebug, facts: TumblebugFacts): UnmetRequirement[] {
  const { connections } = facts;
  // Without the connection, its machine types and images are unknown.
  if (Object.hasOwn(connections, slot.connection) && connections[slot.connection] === undefined) return [];
  return [...unmetName(slot, desired, facts), ...unmetSpec(slot, facts), ...unmetImage(slot, facts)];
}

function unmetName(
  slot: Slot,
  desired: DesiredTumblebug,
  { connections }: TumblebugFacts,
): UnmetRequirement[] {
  const provider = connections[slot.connection]?.provider;
  const name = cloudVmName(desired.namespace, desired.infrastructure, `${slot.machine}-1`);
  if (provider === undefined || name.length <= longestName(cloudKind(provider))) return [];
  return [
    unmetRequirement(
      `groups.${slot.group}.name`,
      `the machine "${slot.machine}" is "${name}" in the cloud, ${name.length} characters, and ${provider} takes ` +
        `${longestName(cloudKind(provider))}; write shorter names of the namespace, the cluster or the group`,
      "InvalidMCIRReason",
    ),
  ];
}

function unmetSpec({ group, connection, spec, role }: Slot, { specs }: TumblebugFacts): UnmetRequirement[] {
  const key = factKey(connection, spec);
  if (!Object.hasOwn(specs, key)) return [];
  const found = specs[key];
  const say = (words: string) => [unmetRequirement(`groups.${group}.spec`, words, "InvalidMCIRReason")];
  if (found === undefined) return say(`the cloud behind "${connection}" has no machine type "${spec}"`);
  const { vcpus, memoryMebibytes } = found;
  if (vcpus === undefined || memoryMebibytes === undefined)
    return say(
      `the cloud behind "${connection}" does not say how many cores and how much memory "${spec}" has; take another machine type`,
    );
  if (role === "control-plane" && vcpus < LEAST_VCPUS)
    return say(`"${spec}" has ${vcpus} vCPU, and a control plane needs ${LEAST_VCPUS}; take a larger one`);
  if (Math.floor(memoryMebibytes / 1024) < LEAST_GIBIBYTES)
    return say(
      `"${spec}" has ${memoryMebibytes} MiB of memory, and a node needs ${LEAST_GIBIBYTES} GiB; take a larger one`,
    );
  return [];
}

function unmetImage({ group, connection, image }: Slot, { images }: TumblebugFacts): UnmetRequirement[] {
  if (images[factKey(connection, image)] !== false) return [];
  return [
    unmetRequirement(
      `groups.${group}.image`,
      `the cloud behind "${connection}" has no image "${image}"`,
      "InvalidMCIRReason",
    ),
  ];
}

/** Refuses a load balancer in clouds where Tumblebug can't create one (CB-Ladybug 0.7.2). */
function unmetLoadBalancer(
  { loadBalancer, slots }: DesiredTumblebug,
  { connections }: TumblebugFacts,
): UnmetRequirement[] {
  const first = slots.find(({ role }) => role === "control-plane");
  const found = first && connections[first.connection];
  if (!loadBalancer || !found || !["ibm", "ncp"].includes(cloudKind(found.provider))) return [];
  return [
    unmetRequirement(
      "endpoint.nlb",
      `Tumblebug makes no load balancer in the cloud "${found.provider}"; write \`endpoint: {loopback: {}}\``,
      "CreateNLBFailedReason",
    ),
  ];
}
