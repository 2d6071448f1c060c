import type { Role } from "../../kubeadm/plan/cluster/machine";
import { connectionBlocks, roomOf } from "./address-blocks";
import { slotNames } from "../../kubeadm/plan/machines/slots";
import { machineSlots } from "./groups";
import { cloudVmName, longestName, tumblebugNameIssue } from "./names";
import { accessIssues, type AccessFacts, cidrSize, parseCidr } from "../../../lib/validation/addresses";
import {
  duplicateIssues,
  below,
  issueAt,
  type ValidationIssue,
} from "../../../lib/validation/validation-issue";
import { KUBEADM_CLUSTER_RENAMES } from "../../kubeadm/plan/cluster/defaults";
import { renamesBelow, type Renames } from "../../../lib/validation/renames";
import { poolIssues } from "../../kubeadm/plan/validation/machines";
import {
  blocksOverlap,
  machineBlockIssues,
  podBlockSizeIssues,
  type NetworkBlocks,
} from "../../kubeadm/plan/validation/network";
import { replaceIssues } from "../../kubeadm/plan/validation/replaced-machines";
import { unknownWord } from "../../../lib/validation/spelling";
import { quoted } from "../../../lib/text/quote";
import { plainHttpIssue } from "../../../lib/validation/urls";

/** Input of the rules for the section `tumblebug`; values that could not be read are absent. */
interface Facts {
  address?: string;
  allowHttp?: boolean;
  namespace?: string;
  infrastructure?: string;
  connections: readonly { name?: string; cidr?: string }[];
  groups: readonly GroupFacts[];
  networkCidr: string;
  nodeAddresses?: "private" | "public";
  access?: AccessFacts;
  replace: Readonly<Record<string, number>>;
  /** Of the cluster: its name, its blocks, and the kind of its pod network: "flannel". */
  cluster: NetworkBlocks & { name?: string; plugin: string };
}

interface GroupFacts {
  name?: string;
  role?: Role;
  connection?: string;
  replicas?: number;
}

/** Old names in a list of groups. */
const GROUP_RENAMES: Renames = {
  "groups[].count": "groups[].replicas",
  "groups[].rootDisk": "groups[].rootVolume",
  "groups[].rootVolume.gibibytes": "groups[].rootVolume.sizeGiB",
};

/** Old names in `foresail:tumblebug`. */
export const TUMBLEBUG_RENAMES: Renames = {
  ...GROUP_RENAMES,
  caCertificates: "caBundle",
  machinesSeconds: "timeouts.machinesSeconds",
};

/** Old names in the arguments of `TumblebugCluster`. */
export const TUMBLEBUG_CLUSTER_RENAMES: Renames = {
  ...GROUP_RENAMES,
  ...renamesBelow("cluster", KUBEADM_CLUSTER_RENAMES),
  "server.caCertificates": "server.caBundle",
  networkCidr: "network.cidr",
  timeoutSeconds: "timeouts.machinesSeconds",
};

/** Number of addresses of a subnet that clouds reserve. */
const RESERVED_ADDRESSES = 5;

/** Pod networks that require all nodes in one private network. */
const PRIVATE_NETWORKS = ["flannel", "bridge"];

/** Returns the validation issues of the section `tumblebug` as a whole; paths are relative to it. @param allowHttp path of that field */
export function tumblebugIssues(
  section: Partial<Omit<Facts, "cluster">> & { network?: { cidr?: string } },
  cluster: Facts["cluster"],
  allowHttp: string,
): ValidationIssue[] {
  const { connections = [], groups = [], replace = {}, network } = section;
  const given = { ...section, connections, groups, replace, cluster };
  const facts: Facts = { ...given, networkCidr: network?.cidr ?? "" };
  return [
    ...issueAt(["address"], plainHttpIssue(facts.address ?? "", allowHttp, facts.allowHttp)),
    ...groupIssues(facts),
    ...connectionIssues(facts),
    ...blockIssues(facts),
    ...nameIssues(facts),
    ...networkIssues(facts),
    ...machineIssues(facts),
    ...accessIssues(facts.access),
  ];
}

/** Returns the default of `nodeAddresses`: public for several connections, which share no network. */
export function defaultNodeAddresses(groups: readonly { connection?: string }[]): "private" | "public" {
  return new Set(groups.map(({ connection }) => connection)).size > 1 ? "public" : "private";
}

/** Checks the groups. A group with the name of another group's machine has VMs of the same names on the server. */
function groupIssues({ groups, replace }: Facts): ValidationIssue[] {
  const owners = new Map(
    groups.flatMap((group, index) =>
      machinesOf([group], replace).map((machine) => [machine, index] as const),
    ),
  );
  return [
    ...poolIssues("groups", groups),
    ...groups.flatMap(({ name }, index) => {
      const owner = owners.get(name ?? "");
      if (owner === undefined || owner === index) return [];
      const message = `${quoted(name)} is the name of a machine of groups[${owner}] too; choose another name`;
      return issueAt(["groups", index, "name"], message);
    }),
  ];
}

function connectionIssues({ connections, groups }: Facts): ValidationIssue[] {
  const known = connections.flatMap(({ name }) => name ?? []);
  const named = connections.map(({ name }, index) => name ?? `${index} has none`);
  return [
    ...below(
      ["connections"],
      duplicateIssues(named, (name) => name, "name"),
    ),
    ...groups.flatMap(({ connection }, index) =>
      connection === undefined || known.includes(connection)
        ? []
        : issueAt(["groups", index, "connection"], unknownWord(connection, known)),
    ),
  ];
}

function blockIssues(facts: Facts): ValidationIssue[] {
  const { connections, networkCidr, cluster } = facts;
  const path = ["network", "cidr"];
  const room = parseCidr(networkCidr) ? roomOf(networkCidr) : Infinity;
  const free = connections.filter(({ cidr }) => cidr === undefined).length;
  const tooSmall = `${quoted(networkCidr)} has room for ${room} connections (a /24 each) and there are ${free}; write a larger block`;
  return [
    ...issueAt(path, room < free ? tooSmall : undefined),
    ...(free > 0 ? machineBlockIssues(networkCidr, cluster, path) : []),
    ...connections.flatMap(({ cidr }, index) => {
      if (cidr === undefined) return [];
      const own = ["connections", index, "cidr"];
      const earlier = connections.slice(0, index).find((other) => blocksOverlap(cidr, other.cidr ?? ""));
      const shared = `${quoted(cidr)} overlaps ${quoted(earlier?.cidr)} of another connection; choose blocks that share no address`;
      return [
        ...machineBlockIssues(cidr, cluster, own),
        ...issueAt(own, earlier === undefined ? undefined : shared),
      ];
    }),
    ...roomIssues(facts),
  ];
}

/** Checks that each connection's block has enough addresses for its machines. */
function roomIssues({ connections, groups, networkCidr, cluster }: Facts): ValidationIssue[] {
  const named = connections.flatMap(({ name, cidr }) => (name === undefined ? [] : [{ name, cidr }]));
  const blocks = connectionBlocks(networkCidr, named);
  const issues = connections.flatMap(({ name }, index) => {
    const cidr = blocks.get(name ?? "");
    const block = cidr === undefined ? undefined : parseCidr(cidr);
    if (!block) return [];
    const machines = groups.reduce(
      (sum, { connection, replicas = 1 }) => sum + (connection === name ? replicas : 0),
      0,
    );
    const room = Math.max(cidrSize(block) - RESERVED_ADDRESSES, 0);
    const message = `${quoted(cidr)} has room for ${room} machines and there are ${machines}; write a larger block`;
    return issueAt(["connections", index, "cidr"], room < machines ? message : undefined);
  });
  const all = groups.reduce((sum, { replicas = 1 }) => sum + replicas, 0);
  return [...issues, ...podBlockSizeIssues(cluster, all, "groups")];
}

/** Checks the length of VM names for most clouds; the limits of single clouds are checked with the server's facts. */
function nameIssues({ namespace, infrastructure, cluster, groups, replace }: Facts): ValidationIssue[] {
  const name = infrastructure ?? cluster.name;
  if (infrastructure === undefined && cluster.name !== undefined) {
    const wrong = tumblebugNameIssue(cluster.name);
    if (wrong !== undefined) return issueAt(["infrastructure"], `is missing, and cluster.name ${wrong}`);
  }
  if (namespace === undefined || name === undefined) return [];
  const limit = longestName("");
  return groups.flatMap((group, index) => {
    const [longest = ""] = machinesOf([group], replace)
      .map((machine) => cloudVmName(namespace, name, `${machine}-1`))
      .sort((one, other) => other.length - one.length);
    const message = `its machines are ${quoted(longest)} and the like in the cloud, ${longest.length} characters, and clouds take ${limit}; write shorter names`;
    return issueAt(["groups", index, "name"], longest.length > limit ? message : undefined);
  });
}

/** Checks pod network and access of nodes that communicate over the Internet. CB-Ladybug has the same restriction. */
function networkIssues(facts: Facts): ValidationIssue[] {
  const { nodeAddresses, connections, groups, cluster, access } = facts;
  const known = groups.filter(({ connection }) => connections.some(({ name }) => name === connection));
  const addresses = nodeAddresses ?? defaultNodeAddresses(known);
  if (addresses === "private") return [];
  const needsPrivate =
    `the pod network ${cluster.plugin} needs nodes on one private network, and nodes of several connections reach each other over the Internet; ` +
    "write cluster.network.plugin: {cilium: {}} or {calico: {}}, or `nodeAddresses: private` when the clouds' networks are joined";
  const isEmpty =
    "is empty; list the public blocks that the nodes of the other connections come from, since they reach each other over the Internet";
  const hasBlocks = Array.isArray(access?.nodes) && access.nodes.length > 0;
  return [
    ...issueAt(["nodeAddresses"], PRIVATE_NETWORKS.includes(cluster.plugin) ? needsPrivate : undefined),
    ...issueAt(["access", "nodes"], hasBlocks ? undefined : isEmpty),
  ];
}

export const machinesOf = (groups: readonly GroupFacts[], replace: Facts["replace"]): string[] =>
  machineSlots(
    groups.map(({ name = "", role = "worker", replicas = 1 }) => ({ name, role, replicas })),
    replace,
  ).map(({ machine }) => machine);

function machineIssues({ groups, replace }: Facts): ValidationIssue[] {
  const named = groups.flatMap(({ name, replicas = 1 }) => (name === undefined ? [] : [{ name, replicas }]));
  const slots = named.flatMap(({ name, replicas }) => slotNames(name, replicas));
  return [
    // a group that became smaller may have kept any of its slots, which the preview knows
    ...replaceIssues(
      Object.keys(replace).filter(
        (slot) => !named.some(({ name }) => slot.replace(/-[1-9]\d*$/, "") === name),
      ),
      slots,
    ),
  ];
}

/** Whether a machine is one of those that a run keeps. */
export const isDesired = (name: string, desired: readonly { machine: string }[]): boolean =>
  desired.some(({ machine }) => machine === name);

/**
 * Returns the refusals of `lost`. Only the state says which slots a group keeps that became smaller.
 *
 * @param desired the machines of the run
 */
export function desiredLostRefusals(
  lost: readonly string[],
  desired: readonly { machine: string }[],
): { property: string; reason: string }[] {
  return lost.flatMap((name, index) =>
    isDesired(name, desired)
      ? [
          {
            property: `tumblebug.lost[${index}]`,
            reason: `${quoted(name)} is still in its group; raise its number in \`replace\`, or lower the replicas of the group`,
          },
        ]
      : [],
  );
}
