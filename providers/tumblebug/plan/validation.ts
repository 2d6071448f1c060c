import type { Role } from "../../kubeadm/plan/machine";
import { connectionBlocks, roomOf } from "./address-blocks";
import { slotNames } from "../../kubeadm/plan/machines/slots";
import { wantedSlots } from "./groups";
import { cloudVmName, longestName, tumblebugNameIssue } from "./names";
import { accessIssues, type AccessFacts } from "../../../lib/validation/access";
import { cidrIssue, cidrSize, cidrsOverlap, parseCidr } from "../../../lib/validation/cidr";
import { duplicateIssues } from "../../../lib/validation/duplicates";
import type { ValidationIssue } from "../../../lib/validation/validation-issue";
import { poolNameIssue } from "../../../lib/validation/names";
import { podBlockSizeIssues } from "../../kubeadm/plan/validation/network";
import { replaceIssues } from "../../kubeadm/plan/validation/replace";
import { unknownWord } from "../../../lib/validation/spelling";
import { quoted } from "../../../lib/text/quote";

/** Input of the rules for the section `tumblebug`; unreadable values are absent. */
export interface TumblebugFacts {
  namespace?: string;
  infrastructure?: string;
  clusterName?: string;
  connections: { name?: string; cidr?: string }[];
  groups: GroupFacts[];
  networkCidr: string;
  nodeAddresses?: "private" | "public";
  /** Kind of the pod network: "flannel". */
  plugin: string;
  access: AccessFacts & { nodes: readonly string[] };
  replace: Readonly<Record<string, number>>;
  lost: string[];
  podCidr: string;
  serviceCidr: string;
}

export interface GroupFacts {
  name?: string;
  role?: Role;
  connection?: string;
  count: number;
}

/** Number of addresses of a subnet that clouds reserve. */
const RESERVED_ADDRESSES = 5;

/** Pod networks that require all nodes in one private network. */
const PRIVATE_NETWORKS = ["flannel", "bridge"];

/** Returns the validation issues of the section `tumblebug` as a whole; paths are relative to it. */
export function tumblebugIssues(facts: TumblebugFacts): ValidationIssue[] {
  return [
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

function groupIssues(facts: TumblebugFacts): ValidationIssue[] {
  const { groups } = facts;
  const issues: ValidationIssue[] = [];
  const isRead = groups.every(({ role }) => role !== undefined);
  const planes = groups.flatMap((group, index) => (group.role === "control-plane" ? [{ group, index }] : []));
  const [first, second] = planes;
  if (isRead && !first)
    issues.push({
      path: ["groups"],
      message: 'no group is the control planes\'; give one the role "control-plane"',
    });
  if (isRead && groups.length > 0 && !groups.some(({ role }) => role === "worker"))
    issues.push({ path: ["groups"], message: "no group has workers; add one" });
  if (first && second)
    issues.push({
      path: ["groups", second.index, "role"],
      message: `groups[${first.index}] has the control planes already; make this one a worker group, or raise the count there`,
    });
  if (first && first.group.count % 2 === 0)
    issues.push({
      path: ["groups", first.index, "count"],
      message: `${first.group.count} control planes tolerate no more failures than ${Math.max(first.group.count - 1, 1)}; write 1, 3, 5 or 7`,
    });
  groups.forEach(({ name, role }, index) => {
    if (name === undefined) return;
    const path = ["groups", index, "name"];
    const wrong = tumblebugNameIssue(name) ?? (role === "worker" ? poolNameIssue(name) : undefined);
    if (wrong !== undefined) issues.push({ path, message: wrong });
  });
  const named = groups.map(({ name }, index) => name ?? `${index} has none`);
  return [
    ...issues,
    ...duplicateIssues(named, (name) => name).map(below("groups")),
    ...numberedNameIssues(facts),
  ];
}

/** Reports groups with the name of another group's machine: their VMs would have the same names on the server. */
function numberedNameIssues({ groups, replace }: TumblebugFacts): ValidationIssue[] {
  const owners = new Map(
    groups.flatMap((group, index) =>
      machinesOf([group], replace).map((machine) => [machine, index] as const),
    ),
  );
  return groups.flatMap(({ name }, index): ValidationIssue[] => {
    const owner = owners.get(name ?? "");
    if (owner === undefined || owner === index) return [];
    const message = `${quoted(name)} is the name of a machine of groups[${owner}] too; choose another name`;
    return [{ path: ["groups", index, "name"], message }];
  });
}

const below =
  (field: string, last = "name") =>
  ({ path, message }: ValidationIssue): ValidationIssue => ({ path: [field, ...path, last], message });

function connectionIssues({ connections, groups }: TumblebugFacts): ValidationIssue[] {
  const known = connections.flatMap(({ name }) => name ?? []);
  const named = connections.map(({ name }, index) => name ?? `${index} has none`);
  return [
    ...duplicateIssues(named, (name) => name).map(below("connections")),
    ...groups.flatMap(({ connection }, index): ValidationIssue[] =>
      connection === undefined || known.includes(connection)
        ? []
        : [{ path: ["groups", index, "connection"], message: unknownWord(connection, known) }],
    ),
  ];
}

function blockIssues(facts: TumblebugFacts): ValidationIssue[] {
  const { connections, networkCidr, podCidr, serviceCidr } = facts;
  const issues: ValidationIssue[] = [];
  const wrongBase = cidrIssue(networkCidr);
  const base = { path: ["network", "cidr"] };
  if (wrongBase !== undefined) issues.push({ ...base, message: wrongBase });
  const free = connections.filter(({ cidr }) => cidr === undefined).length;
  if (wrongBase === undefined && roomOf(networkCidr) < free)
    issues.push({
      ...base,
      message: `${quoted(networkCidr)} has room for ${roomOf(networkCidr)} connections (a /24 each) and there are ${free}; write a larger block`,
    });
  const written = connections.flatMap(({ cidr }, index) =>
    cidr === undefined ? [] : [{ cidr, path: ["connections", index, "cidr"] }],
  );
  for (const { cidr, path } of written) {
    const wrong = cidrIssue(cidr);
    if (wrong !== undefined) issues.push({ path, message: wrong });
  }
  const blocks = [
    ...(free > 0 ? [{ cidr: networkCidr, path: base.path as ValidationIssue["path"] }] : []),
    ...written,
  ];
  for (const { cidr, path } of blocks)
    for (const [field, text] of Object.entries({ podCidr, serviceCidr }))
      if (overlap(cidr, text))
        issues.push({
          path,
          message: `${quoted(cidr)} overlaps cluster.network.${field} ${quoted(text)}; choose blocks that share no address`,
        });
  written.forEach(({ cidr, path }, index) => {
    const earlier = written.slice(0, index).find((other) => overlap(cidr, other.cidr));
    if (earlier)
      issues.push({
        path,
        message: `${quoted(cidr)} overlaps ${quoted(earlier.cidr)} of another connection; choose blocks that share no address`,
      });
  });
  return [...issues, ...roomIssues(facts)];
}

function overlap(one: string, other: string): boolean {
  const [left, right] = [parseCidr(one), parseCidr(other)];
  return left !== undefined && right !== undefined && cidrsOverlap(left, right);
}

/** Checks that each connection's block has enough addresses for its machines. */
function roomIssues({
  connections,
  groups,
  networkCidr,
  podCidr,
  serviceCidr,
}: TumblebugFacts): ValidationIssue[] {
  const named = connections.flatMap(({ name, cidr }) =>
    name === undefined ? [] : [{ name, ...(cidr === undefined ? {} : { cidr }) }],
  );
  const blocks = connectionBlocks(networkCidr, named);
  const issues = connections.flatMap(({ name }, index): ValidationIssue[] => {
    const cidr = blocks.get(name ?? "");
    const block = cidr === undefined ? undefined : parseCidr(cidr);
    if (!block) return [];
    const machines = groups.reduce((sum, group) => sum + (group.connection === name ? group.count : 0), 0);
    const room = Math.max(cidrSize(block) - RESERVED_ADDRESSES, 0);
    if (room >= machines) return [];
    const message = `${quoted(cidr)} has room for ${room} machines and there are ${machines}; write a larger block`;
    return [{ path: ["connections", index, "cidr"], message }];
  });
  const all = groups.reduce((sum, { count }) => sum + count, 0);
  return [
    ...issues,
    ...podBlockSizeIssues({ podCidr, serviceCidr }, all).map(({ message }) => ({
      path: ["groups"],
      message: `cluster.network.podCidr ${message}`,
    })),
  ];
}

/** Checks the length of VM names for most clouds; the limits of single clouds are checked with the server's facts. */
function nameIssues({
  namespace,
  infrastructure,
  clusterName,
  groups,
  replace,
}: TumblebugFacts): ValidationIssue[] {
  const name = infrastructure ?? clusterName;
  if (infrastructure === undefined && clusterName !== undefined) {
    const wrong = tumblebugNameIssue(clusterName);
    if (wrong !== undefined)
      return [{ path: ["infrastructure"], message: `is missing, and cluster.name ${wrong}` }];
  }
  if (namespace === undefined || name === undefined) return [];
  const limit = longestName("");
  return groups.flatMap((group, index): ValidationIssue[] => {
    const slots = wantedSlots([complete(group)], replace);
    const longest = slots
      .map(({ machine }) => cloudVmName(namespace, name, `${machine}-1`))
      .sort((one, other) => other.length - one.length)[0];
    if (longest === undefined || longest.length <= limit) return [];
    const message = `its machines are ${quoted(longest)} and the like in the cloud, ${longest.length} characters, and clouds take ${limit}; write shorter names`;
    return [{ path: ["groups", index, "name"], message }];
  });
}

const complete = ({ name = "", role = "worker", connection = "", count }: GroupFacts) => ({
  ...{ name, role, connection, count, spec: "", image: "" },
  labels: {},
  taints: [],
});

/** Checks pod network and access of nodes that communicate over the Internet. CB-Ladybug has the same restriction. */
function networkIssues(facts: TumblebugFacts): ValidationIssue[] {
  const { nodeAddresses, connections, groups, plugin, access } = facts;
  const known = groups.filter(({ connection }) => connections.some(({ name }) => name === connection));
  const addresses = nodeAddresses ?? defaultNodeAddresses(known);
  if (addresses === "private") return [];
  const issues: ValidationIssue[] = [];
  if (PRIVATE_NETWORKS.includes(plugin))
    issues.push({
      path: ["nodeAddresses"],
      message:
        `the pod network ${plugin} needs nodes on one private network, and nodes of several connections reach each other over the Internet; ` +
        "write cluster.network.plugin: {cilium: {}} or {calico: {}}, or `nodeAddresses: private` when the clouds' networks are joined",
    });
  if (access.nodes.length === 0)
    issues.push({
      path: ["access", "nodes"],
      message:
        "is empty; list the public blocks that the nodes of the other connections come from, since they reach each other over the Internet",
    });
  return issues;
}

/** Returns the names of the groups' machines. */
export function machinesOf(
  groups: readonly GroupFacts[],
  replace: Readonly<Record<string, number>>,
): string[] {
  return wantedSlots(groups.map(complete), replace).map(({ machine }) => machine);
}

function machineIssues({ groups, replace, lost }: TumblebugFacts): ValidationIssue[] {
  const named = groups.flatMap(({ name, count }) => (name === undefined ? [] : [{ name, count }]));
  const machines = machinesOf(groups, replace);
  return [
    ...replaceIssues(
      Object.keys(replace),
      named.flatMap(({ name, count }) => slotNames(name, count)),
    ),
    ...lost.flatMap((machine, index): ValidationIssue[] =>
      machines.includes(machine)
        ? [
            {
              path: ["lost", index],
              message: `${quoted(machine)} is still wanted; raise its number in \`replace\`, or lower the count of its group`,
            },
          ]
        : [],
    ),
  ];
}
