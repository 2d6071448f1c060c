import { cidrsOverlap, parseCidr } from "../../../lib/validation/cidr";
import { nearest } from "../../../lib/validation/spelling";
import type { Slot } from "./groups";
import type { CloudSpec } from "./model";
import { cloudVmName, longestName } from "./names";
import type { Reason } from "./reasons";

/** Clouds that CB-Ladybug 0.7.2 supports, and the additional ones of current Tumblebug releases. */
const PROVIDERS: readonly string[] = [
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
  const { namespace, createNamespace, connections, slots } = desired;
  if (!facts.namespaceExists && !createNamespace)
    return unmet(
      "namespace",
      `the server has no namespace "${namespace}"; create it, or set \`createNamespace: true\``,
    );
  const all = [
    ...unmetInfrastructure(desired, facts),
    ...connections.flatMap(({ name }) => unmetConnection(name, desired, facts)),
    ...connections.flatMap((connection) => unmetBlock(connection, desired, facts)),
    // Without the connection, its machine types and images are unknown.
    ...slots
      .filter(({ connection: name }) => !isMissing(name, facts))
      .flatMap((slot) => [
        ...unmetName(slot, desired, facts),
        ...unmetSpec(slot, facts),
        ...unmetImage(slot, facts),
      ]),
    ...unmetLoadBalancer(desired, facts),
  ];
  // Machines of one group have the same unmet requirements.
  return [...new Map(all.map((one) => [`${one.property} ${one.reason}`, one])).values()];
}

function unmet(field: string, words: string, code?: Reason): UnmetRequirement[] {
  return [{ property: `tumblebug.${field}`, reason: code === undefined ? words : `${words} (${code})` }];
}

const isMissing = (connection: string, { connections }: TumblebugFacts): boolean =>
  Object.hasOwn(connections, connection) && connections[connection] === undefined;

function unmetInfrastructure(
  { namespace, infrastructure }: DesiredTumblebug,
  { infrastructure: found }: TumblebugFacts,
): UnmetRequirement[] {
  if (found === undefined || found.isOurs) return [];
  return unmet(
    "infrastructure",
    `the namespace "${namespace}" has an MCIS "${infrastructure}" that this stack did not create (${found.status || "empty"}); ` +
      "choose another `infrastructure`, or delete that one",
    "AlreadyExistMCISFailedReason",
  );
}

function unmetConnection(
  name: string,
  { slots, allowMock }: DesiredTumblebug,
  facts: TumblebugFacts,
): UnmetRequirement[] {
  const field = `connections.${name}`;
  const hasControlPlane = slots.some(
    ({ connection, role }) => connection === name && role === "control-plane",
  );
  if (isMissing(name, facts))
    return unmet(
      field,
      `the server has no connection "${name}"; register it there`,
      hasControlPlane ? "GetControlPlaneConnectionInfoFailedReason" : "GetWorkerConnectionInfoFailedReason",
    );
  const provider = facts.connections[name]?.provider;
  const kind = cloudKind(provider ?? "");
  if (provider === undefined || PROVIDERS.includes(kind) || (allowMock && SIMULATED.includes(kind)))
    return [];
  if (SIMULATED.includes(kind))
    return unmet(
      field,
      `the connection "${name}" is to a simulated cloud ("${provider}"); use a connection to a real cloud`,
      "InvalidMCIRReason",
    );
  const near = nearest(provider, PROVIDERS);
  const question = near === undefined ? "" : ` (do you mean "${near}"?)`;
  return unmet(
    field,
    `the connection "${name}" is to the unknown cloud "${provider}"${question}`,
    "InvalidMCIRReason",
  );
}

/** Checks a VNet's CIDR block. Blocks must not overlap, because connected clouds need unique addresses. */
function unmetBlock(
  { name, vNet, cidr }: DesiredTumblebug["connections"][number],
  { connections }: DesiredTumblebug,
  { vNets }: TumblebugFacts,
): UnmetRequirement[] {
  const field = `connections.${name}.cidr`;
  const existing = vNets.find((found) => found.name === vNet);
  if (existing && !existing.isOurs && existing.cidr !== cidr)
    return unmet(
      field,
      `the VNet "${vNet}" exists and has the block ${existing.cidr}; set \`cidr: ${existing.cidr}\`, or another \`resources.prefix\``,
      "InvalidMCIRReason",
    );
  const own = parseCidr(existing?.cidr ?? cidr);
  return connections.flatMap((other) => {
    const block = vNets.find((found) => found.name === other.vNet)?.cidr ?? other.cidr;
    const theirs = parseCidr(block);
    if (other.name >= name || !own || !theirs || !cidrsOverlap(own, theirs)) return [];
    return unmet(
      field,
      `the VNet "${vNet}" overlaps that of the connection "${other.name}" (${block}); choose a block of its own`,
      "InvalidMCIRReason",
    );
  });
}

function unmetName(
  { machine, group, connection }: Slot,
  { namespace, infrastructure }: DesiredTumblebug,
  { connections }: TumblebugFacts,
): UnmetRequirement[] {
  const provider = connections[connection]?.provider;
  const name = cloudVmName(namespace, infrastructure, `${machine}-1`);
  const longest = longestName(cloudKind(provider ?? ""));
  if (provider === undefined || name.length <= longest) return [];
  return unmet(
    `groups.${group}.name`,
    `the machine "${machine}" is named "${name}" in the cloud, ${name.length} characters, and ${provider} allows ` +
      `${longest}; choose shorter names of the namespace, the cluster or the group`,
    "InvalidMCIRReason",
  );
}

function unmetSpec({ group, connection, spec, role }: Slot, { specs }: TumblebugFacts): UnmetRequirement[] {
  const key = factKey(connection, spec);
  if (!Object.hasOwn(specs, key)) return [];
  const say = (words: string) => unmet(`groups.${group}.spec`, words, "InvalidMCIRReason");
  const found = specs[key];
  if (found === undefined) return say(`the cloud of "${connection}" has no machine type "${spec}"`);
  const { vcpus, memoryMebibytes } = found;
  if (vcpus === undefined || memoryMebibytes === undefined)
    return say(
      `the cloud of "${connection}" does not report the cores and memory of "${spec}"; choose another machine type`,
    );
  if (role === "control-plane" && vcpus < LEAST_VCPUS)
    return say(`"${spec}" has ${vcpus} vCPU, and a control plane needs ${LEAST_VCPUS}; choose a larger one`);
  if (Math.floor(memoryMebibytes / 1024) < LEAST_GIBIBYTES)
    return say(
      `"${spec}" has ${memoryMebibytes} MiB of memory, and a node needs ${LEAST_GIBIBYTES} GiB; choose a larger one`,
    );
  return [];
}

function unmetImage({ group, connection, image }: Slot, { images }: TumblebugFacts): UnmetRequirement[] {
  if (images[factKey(connection, image)] !== false) return [];
  const reason = `the cloud of "${connection}" has no image "${image}"`;
  return unmet(`groups.${group}.image`, reason, "InvalidMCIRReason");
}

/** Refuses a load balancer in clouds where Tumblebug can't create one (CB-Ladybug 0.7.2). */
function unmetLoadBalancer(
  { loadBalancer, slots }: DesiredTumblebug,
  { connections }: TumblebugFacts,
): UnmetRequirement[] {
  const first = slots.find(({ role }) => role === "control-plane");
  const provider = first && connections[first.connection]?.provider;
  if (!loadBalancer || provider === undefined || !["ibm", "ncp"].includes(cloudKind(provider))) return [];
  return unmet(
    "endpoint.nlb",
    `Tumblebug can't create a load balancer in the cloud "${provider}"; set \`endpoint: {loopback: {}}\``,
    "CreateNLBFailedReason",
  );
}
