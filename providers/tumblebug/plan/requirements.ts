import { cidrsOverlap, parseCidr } from "../../../lib/validation/cidr";
import { nearest } from "../../../lib/validation/spelling";
import type { Slot } from "./groups";
import type { CloudSpec } from "./model";
import { cloudVmName, longestName } from "./names";
import type { Reason } from "./reasons";

/** The clouds that CB-Ladybug 0.7.2 knows, and those that today's Tumblebug has besides. */
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

/** Simulated clouds of CB-Spider: machines that nobody can log in to, unless a test says otherwise. */
const SIMULATED = ["mock"];

/**
 * The kind of a cloud: today's Tumblebug calls one that is registered at run time by its kind and a name, as "openstack-site01"
 * (fixtures of 0.13, `connConfig/mock-site01-default`). Itself when it is of none that is known.
 */
function cloudKind(provider: string): string {
  return [...PROVIDERS, ...SIMULATED].find((kind) => provider.startsWith(`${kind}-`)) ?? provider;
}

/** Floors of kubeadm: cores of a control plane, memory of every node. */
const LEAST_VCPUS = 2;
const LEAST_GIBIBYTES = 2;

/** Where a connection leads. */
export interface ConnectionFacts {
  provider: string;
  region: string;
  zone: string;
}

/** What a run needs of the server, all of it plain. */
export interface DesiredTumblebug {
  namespace: string;
  createNamespace: boolean;
  /** Name of the MCIS, or infra. */
  infrastructure: string;
  connections: { name: string; vNet: string; cidr: string }[];
  slots: Slot[];
  /** Whether a load balancer of the cloud is asked for. */
  loadBalancer: boolean;
  /** Take connections to CB-Spider's pretended clouds. */
  allowMock: boolean;
}

/** What the server and the clouds behind it have; only what was asked for is there. */
export interface TumblebugFacts {
  namespaceExists: boolean;
  /** Connection → where it leads; undefined when the server has none of that name. */
  connections: Readonly<Record<string, ConnectionFacts | undefined>>;
  /** "<connection> <spec>" → machine type; undefined when the cloud has none of that name. */
  specs: Readonly<Record<string, CloudSpec | undefined>>;
  /** "<connection> <image>" → whether the cloud has it; only of servers that can say so. */
  images: Readonly<Record<string, boolean>>;
  /** The VNets that are there, with their blocks. */
  vNets: readonly { name: string; connection: string; cidr: string; isOurs: boolean }[];
  /** The MCIS of that name. */
  infrastructure?: { status: string; isOurs: boolean };
}

/** Something that keeps a run from working, with the place in the configuration and CB-Ladybug's reason. */
export interface UnmetRequirement {
  property: string;
  reason: string;
}

/** The key under which facts of a machine type or image are kept. */
export const factKey = (connection: string, name: string): string => `${connection} ${name}`;

/** Says what keeps a run from working, before anything is made. Path names are those of `foresail:tumblebug`. */
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
  // ten machines of a group lack the same
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

/** Who asks for the connection, for the code. */
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

/** Two clouds that are joined must not have one address twice. */
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
  // without its connection nothing can be said of what is behind it
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

/** Clouds whose load balancers Tumblebug can't make (CB-Ladybug 0.7.2). */
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
