import { cidrsOverlap, parseCidr } from "../../../lib/validation/addresses";
import { labelValueIssue } from "../../../lib/validation/labels";
import { nearest } from "../../../lib/validation/spelling";
import type { Slot } from "./groups";
import type { CloudSpec } from "./model";
import { cloudVmName, longestName } from "./names";
import type { Reason } from "./reasons";
import { groupReleaseIssue, type GroupFields } from "./releases";

/** Clouds that CB-Ladybug 0.7.2 supports, and the additional ones of current Tumblebug releases. */
const PROVIDERS: readonly string[] = (
  "aws gcp azure alibaba tencent openstack ibm cloudit ncpvpc ncp nhncloud " +
  "nhn kt ktvpc ktcloud ktcloudvpc"
).split(" ");

/** CB-Spider's simulated clouds, whose machines accept no logins, except in tests. */
const SIMULATED = ["mock"];

/** Clouds where Tumblebug can create a load balancer in some regions only, or in none (CB-Ladybug 0.7.2). */
const LOAD_BALANCER_REGIONS: Readonly<Record<string, readonly string[]>> = {
  ibm: [],
  ncp: [],
  ncpvpc: ["SGN", "JPN"],
};

/**
 * Returns the kind of a cloud. Current Tumblebug releases name a cloud that is registered at run time by its kind and a
 * name: "openstack-site01" (fixtures of 0.13, `connConfig/mock-site01-default`). An unknown name is returned unchanged.
 */
export function cloudKind(provider: string): string {
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
  /** Name of the connection's region, if the server has no such region. */
  missingRegion?: string;
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
  /** "<connection> <image>" → whether the cloud has it. */
  images: Readonly<Record<string, boolean>>;
  /** Fields of a group of VMs; undefined if the server does not describe them, or was asked by an earlier run. */
  groupFields?: GroupFields | undefined;
  /** Existing VNets with their CIDR blocks. */
  vNets: readonly { name: string; connection: string; cidr: string; isOurs: boolean }[];
  /** The existing MCIS or infra of the desired name. */
  infrastructure?: {
    status: string;
    isOurs: boolean;
    /** whose owner tag it has */ madeBy?: string | undefined;
  };
}

/** An unmet requirement, with the configuration property and a reason that may include CB-Ladybug's code. */
export interface UnmetRequirement {
  property: string;
  reason: string;
}

/** Returns the key of a machine type or image in TumblebugFacts. */
export const factKey = (connection: string, name: string): string => `${connection} ${name}`;

/** An issue by its field in `foresail:tumblebug`; `code` is CB-Ladybug's, or "" if it has none. */
type Issue = readonly [field: string, words: string, code?: Reason | ""] | undefined;

/** Returns the unmet requirements of a run, before any change. Properties are paths in `foresail:tumblebug`. */
export function unmetTumblebug(desired: DesiredTumblebug, facts: TumblebugFacts): UnmetRequirement[] {
  const { groupFields } = facts;
  const unsupported = groupFields && groupReleaseIssue(groupFields);
  if (unsupported !== undefined) return [{ property: "tumblebug.address", reason: unsupported }];
  const issues = facts.namespaceExists || desired.createNamespace ? issuesOf(desired, facts) : [];
  if (!facts.namespaceExists && !desired.createNamespace)
    issues.push([
      "namespace",
      `the server has no namespace "${desired.namespace}"; create it, or set \`createNamespace: true\``,
      "",
    ]);
  const all = issues.flatMap((issue) => {
    if (issue === undefined) return [];
    const [field, words, code = "InvalidMCIRReason"] = issue;
    return { property: `tumblebug.${field}`, reason: code === "" ? words : `${words} (${code})` };
  });
  // Machines of one group have the same unmet requirements.
  return [...new Map(all.map((one) => [`${one.property} ${one.reason}`, one])).values()];
}

function issuesOf(desired: DesiredTumblebug, facts: TumblebugFacts): Issue[] {
  const { connections, slots } = desired;
  const isMissing = (name: string) =>
    Object.hasOwn(facts.connections, name) && facts.connections[name] === undefined;
  return [
    infrastructureIssue(desired, facts),
    ...connections.map(({ name }) =>
      isMissing(name) ? missingConnection(name, slots) : cloudIssue(name, desired, facts),
    ),
    ...connections.flatMap((connection) => blockIssues(connection, desired, facts)),
    // Without the connection, its machine types and images are unknown.
    ...slots
      .filter(({ connection }) => !isMissing(connection))
      .flatMap((slot) => [nameIssue(slot, desired, facts), specIssue(slot, facts), imageIssue(slot, facts)]),
    loadBalancerIssue(desired, facts),
  ];
}

/** Returns whose an MCIS is, and what to do. @param madeBy whose owner tag it has */
export const foreignMcis = (madeBy: string | undefined): string =>
  madeBy === undefined
    ? "choose another `infrastructure`, or delete that one"
    : `it belongs to ${madeBy}: choose another \`infrastructure\`, or destroy it there. If that is this stack, use the state that it had, since its VMs can't be taken over`;

function infrastructureIssue(desired: DesiredTumblebug, { infrastructure: found }: TumblebugFacts): Issue {
  if (found === undefined || found.isOurs) return undefined;
  const { namespace, infrastructure } = desired;
  return [
    "infrastructure",
    `the namespace "${namespace}" has an MCIS "${infrastructure}" that this stack did not create (${found.status || "empty"}); ${foreignMcis(found.madeBy)}`,
    "AlreadyExistMCISFailedReason",
  ];
}

function missingConnection(name: string, slots: readonly Slot[]): Issue {
  const isForControlPlane = slots.some((slot) => slot.connection === name && slot.role === "control-plane");
  return [
    `connections.${name}`,
    `the server has no connection "${name}"; register it there`,
    isForControlPlane ? "GetControlPlaneConnectionInfoFailedReason" : "GetWorkerConnectionInfoFailedReason",
  ];
}

function cloudIssue(name: string, { allowMock }: DesiredTumblebug, { connections }: TumblebugFacts): Issue {
  const { provider, missingRegion } = connections[name] ?? {};
  const kind = cloudKind(provider ?? "");
  const field = `connections.${name}`;
  if (missingRegion !== undefined)
    return [
      field,
      `the server has no region "${missingRegion}" of the connection "${name}"; register it there`,
    ];
  if (provider === undefined || PROVIDERS.includes(kind)) return undefined;
  if (SIMULATED.includes(kind))
    return allowMock
      ? undefined
      : [
          field,
          `the connection "${name}" is to a simulated cloud ("${provider}"); use a connection to a real cloud`,
        ];
  const near = nearest(provider, PROVIDERS);
  const question = near === undefined ? "" : ` (do you mean "${near}"?)`;
  return [field, `the connection "${name}" is to the unknown cloud "${provider}"${question}`];
}

/** Checks a VNet's CIDR block. Blocks must not overlap, because connected clouds need unique addresses. */
function blockIssues(
  { name, vNet, cidr }: DesiredTumblebug["connections"][number],
  { connections }: DesiredTumblebug,
  { vNets }: TumblebugFacts,
): Issue[] {
  const field = `connections.${name}.cidr`;
  const existing = vNets.find((found) => found.name === vNet);
  if (existing && !existing.isOurs && existing.cidr !== cidr) {
    const set = `set \`cidr: ${existing.cidr}\`, or another \`resources.prefix\``;
    return [[field, `the VNet "${vNet}" exists and has the block ${existing.cidr}; ${set}`]];
  }
  const own = parseCidr(existing?.cidr ?? cidr);
  return connections.map((other) => {
    const block = vNets.find((found) => found.name === other.vNet)?.cidr ?? other.cidr;
    const theirs = parseCidr(block);
    if (other.name >= name || !own || !theirs || !cidrsOverlap(own, theirs)) return undefined;
    return [
      field,
      `the VNet "${vNet}" overlaps that of the connection "${other.name}" (${block}); choose a block of its own`,
    ];
  });
}

function nameIssue(
  { machine, group, connection }: Slot,
  { namespace, infrastructure }: DesiredTumblebug,
  { connections }: TumblebugFacts,
): Issue {
  const provider = connections[connection]?.provider;
  const name = cloudVmName(namespace, infrastructure, `${machine}-1`);
  const longest = longestName(cloudKind(provider ?? ""));
  if (provider === undefined || name.length <= longest) return undefined;
  return [
    `groups.${group}.name`,
    `the machine "${machine}" is named "${name}" in the cloud, ${name.length} characters, and ${provider} allows ` +
      `${longest}; choose shorter names of the namespace, the cluster or the group`,
  ];
}

function specIssue({ group, connection, spec, role }: Slot, { specs }: TumblebugFacts): Issue {
  const key = factKey(connection, spec);
  if (!Object.hasOwn(specs, key)) return undefined;
  const field = `groups.${group}.spec`;
  const found = specs[key];
  if (found === undefined) return [field, `the cloud of "${connection}" has no machine type "${spec}"`];
  const { vcpus, memoryMebibytes } = found;
  if (vcpus === undefined || memoryMebibytes === undefined) {
    const words = `the cloud of "${connection}" does not report the cores and memory of "${spec}"`;
    return [field, `${words}; choose another machine type`];
  }
  const tooSmall = (has: string, needs: string): Issue => [
    field,
    `"${spec}" has ${has}, and ${needs}; choose a larger one`,
  ];
  if (role === "control-plane" && vcpus < LEAST_VCPUS)
    return tooSmall(`${vcpus} vCPU`, `a control plane needs ${LEAST_VCPUS}`);
  if (Math.floor(memoryMebibytes / 1024) < LEAST_GIBIBYTES)
    return tooSmall(`${memoryMebibytes} MiB of memory`, `a node needs ${LEAST_GIBIBYTES} GiB`);
  return undefined;
}

function imageIssue({ group, connection, image }: Slot, { images }: TumblebugFacts): Issue {
  return images[factKey(connection, image)] === false
    ? [`groups.${group}.image`, `the cloud of "${connection}" has no image "${image}"`]
    : undefined;
}

function loadBalancerIssue(
  { loadBalancer, slots }: DesiredTumblebug,
  { connections }: TumblebugFacts,
): Issue {
  const first = slots.find(({ role }) => role === "control-plane");
  const { provider = "", region = "" } = (first && connections[first.connection]) ?? {};
  const regions = LOAD_BALANCER_REGIONS[cloudKind(provider)];
  if (!loadBalancer || !regions || regions.some((one) => region.toUpperCase().includes(one)))
    return undefined;
  const others = regions.length === 0 ? "" : ` outside the regions ${regions.join(" and ")}`;
  return [
    "endpoint.nlb",
    `Tumblebug can't create a load balancer in the cloud "${provider}"${others}; set \`endpoint: {loopback: {}}\``,
    "CreateNLBFailedReason",
  ];
}

/** Returns a machine's topology labels: the well-known ones for region and zone, and CB-Ladybug's for the cloud. */
export function topologyLabels({ provider, region, zone }: ConnectionFacts): Record<string, string> {
  const labels = {
    "topology.kubernetes.io/region": region,
    "topology.kubernetes.io/zone": zone,
    "topology.cloud-barista.github.io/csp": provider,
  };
  // Some clouds report no zone.
  return Object.fromEntries(
    Object.entries(labels).filter(([, value]) => value !== "" && labelValueIssue(value) === undefined),
  );
}

/**
 * Returns the machines of each cloud, region and zone, one line each: "aws ap-northeast-2 ap-northeast-2a: cp-1,
 * w-1". Leaves out machines of unknown connections.
 */
export function spreadLines(
  slots: readonly Pick<Slot, "machine" | "connection">[],
  connections: Readonly<Record<string, ConnectionFacts>>,
): string[] {
  const byPlace = new Map<string, string[]>();
  for (const { machine, connection } of slots) {
    const at = connections[connection];
    if (!at) continue;
    const ref = [at.provider, at.region, at.zone].filter((word) => word !== "").join(" ");
    byPlace.set(ref, [...(byPlace.get(ref) ?? []), machine]);
  }
  return [...byPlace].map(([ref, machines]) => `${ref}: ${machines.join(", ")}`);
}
