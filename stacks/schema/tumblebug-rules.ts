import type { ValidationIssue } from "../../lib/validation/validation-issue";
import { nodeNames, rolloutIssues } from "../../providers/kubeadm/plan/validation/rollout";
import { machinesOf, tumblebugIssues, type GroupFacts } from "../../providers/tumblebug/plan/validation";
import { nodeGroupOf } from "../../providers/tumblebug/plan/groups";
import { sectionIssues } from "./cross-rules";
import { isObject, MOST_GROUPS, MOST_MACHINES } from "./rule";

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): string[] => list(value).flatMap((item) => text(item) ?? []);
const map = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** Returns the readable string fields of an object. */
function read<Field extends string>(value: unknown, ...fields: Field[]): Partial<Record<Field, string>> {
  const object = map(value);
  const found = fields.flatMap((field) => {
    const one = text(object[field]);
    return one === undefined ? [] : [[field, one]];
  });
  return Object.fromEntries(found) as Partial<Record<Field, string>>;
}

function groupFacts(value: unknown): GroupFacts {
  const { role, count } = map(value);
  return {
    ...read(value, "name", "connection"),
    ...(role === "control-plane" || role === "worker" ? { role } : {}),
    // An invalid number has a separate issue.
    count:
      typeof count === "number" && Number.isInteger(count) && count > 0 && count <= MOST_MACHINES ? count : 1,
  };
}

/**
 * Checks the rules that depend on several fields of `foresail:tumblebug` and on the cluster's network.
 *
 * @param section the value as written; invalid fields may have any value and are ignored
 */
export function tumblebugSectionIssues(section: unknown, cluster: unknown): ValidationIssue[] {
  if (!isObject(section)) return [];
  const access = map(section.access);
  const inside = map(map(cluster).network);
  const written = list(section.groups).slice(0, MOST_GROUPS);
  const groups = written.map(groupFacts);
  const { nodeAddresses } = section;
  const replace = Object.entries(map(section.replace)).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number",
  );
  const found = tumblebugIssues({
    ...read(section, "namespace", "infrastructure"),
    ...(text(map(cluster).name) === undefined ? {} : { clusterName: text(map(cluster).name) }),
    connections: list(section.connections).map((connection) => read(connection, "name", "cidr")),
    groups,
    networkCidr: text(map(section.network).cidr) ?? "10.21.0.0/16",
    ...(nodeAddresses === "private" || nodeAddresses === "public" ? { nodeAddresses } : {}),
    plugin: Object.keys(map(inside.plugin))[0] ?? "flannel",
    access: {
      open: access.open === true,
      ssh: texts(access.ssh),
      api: texts(access.api),
      nodePorts: texts(access.nodePorts),
      nodes: texts(access.nodes),
    },
    replace: Object.fromEntries(replace),
    lost: texts(section.lost),
    podCidr: text(inside.podCidr) ?? "10.244.0.0/16",
    serviceCidr: text(inside.serviceCidr) ?? "10.96.0.0/12",
  });
  return [
    ...found.map(({ path, message }) => ({ path: ["tumblebug", ...path], message })),
    ...groupRolloutIssues(map(cluster).rollout, groups, Object.fromEntries(replace)),
    ...sectionIssues("tumblebug", section, inside, undefined, written, "groups"),
  ];
}

function groupRolloutIssues(
  rollout: unknown,
  groups: readonly GroupFacts[],
  replace: Readonly<Record<string, number>>,
): ValidationIssue[] {
  const pools = Object.entries(map(map(rollout).pools)).map(([name, pool]) => [name, map(pool)] as const);
  return rolloutIssues(
    { pools: Object.fromEntries(pools), pausedNodes: texts(map(rollout).pausedNodes) },
    groups.map(({ name = "", role = "worker" }) => nodeGroupOf({ name, role })),
    nodeNames(machinesOf(groups, replace)),
  ).map(({ path, message }) => ({ path: ["cluster", "rollout", ...path], message }));
}
