import type { ValidationIssue } from "../../lib/validation/validation-issue";
import { openstackIssues, slotsOf, type PoolFacts } from "../../providers/openstack/plan/validation";
import { rolloutIssues } from "../../providers/kubeadm/plan/validation/rollout";
import { CONTROL_PLANE_GROUP } from "../../providers/kubeadm/plan/machine";
import { slotOfMachine } from "../../providers/openstack/plan/machine";
import { sectionIssues } from "./cross-rules";
import { isObject, MOST_GROUPS, MOST_MACHINES } from "./rule";

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): string[] => list(value).flatMap((item) => text(item) ?? []);
const map = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
/** Returns a valid number of machines; 1 for an invalid one, which has a separate issue and could make a huge list. */
const whole = (value: unknown, least: number): number =>
  typeof value === "number" && Number.isInteger(value) && value >= least && value <= MOST_MACHINES
    ? value
    : 1;

function poolFacts(value: unknown): PoolFacts {
  const { name, role, replicas, floatingIp, maxSurge } = map(value);
  return {
    ...(text(name) === undefined ? {} : { name: text(name) }),
    ...(role === "control-plane" || role === "worker" ? { role } : {}),
    replicas: whole(replicas, 0),
    floatingIp: floatingIp === true,
    maxSurge: whole(maxSurge, 1),
  };
}

/**
 * Checks the rules that depend on several fields of `foresail:openstack` and on the cluster's network.
 *
 * @param section the value as written; invalid fields may have any value and are ignored
 */
export function openstackSectionIssues(section: unknown, cluster: unknown): ValidationIssue[] {
  if (!isObject(section)) return [];
  const network = map(section.network);
  const access = map(section.access);
  const inside = map(map(cluster).network);
  const written = list(section.pools).slice(0, MOST_GROUPS);
  const pools = written.map(poolFacts);
  const found = openstackIssues({
    pools,
    network: {
      ...(text(network.id) === undefined ? {} : { id: text(network.id) }),
      cidr: text(network.cidr) ?? "10.20.0.0/24",
      dns: list(network.dns).length,
      ...(text(network.externalNetwork) === undefined
        ? {}
        : { externalNetwork: text(network.externalNetwork) }),
    },
    octaviaFloatingIp: map(map(section.endpoint).octavia).floatingIp === true,
    replace: Object.keys(map(section.replace)),
    access: {
      open: access.open === true,
      ssh: texts(access.ssh),
      api: texts(access.api),
      nodePorts: texts(access.nodePorts),
    },
    podCidr: text(inside.podCidr) ?? "10.244.0.0/16",
    serviceCidr: text(inside.serviceCidr) ?? "10.96.0.0/12",
  });
  return [
    ...found.map(({ path, message }) => ({ path: ["openstack", ...path], message })),
    ...poolRolloutIssues(map(cluster).rollout, pools),
    ...sectionIssues("openstack", section, inside, map(map(cluster).ssh).port, written, "pools"),
  ];
}

/** Returns issues of the rollout's pools and nodes. Machine names end with a hash, which is unknown here. */
function poolRolloutIssues(rollout: unknown, pools: readonly PoolFacts[]): ValidationIssue[] {
  const named = Object.entries(map(map(rollout).pools)).map(([name, pool]) => [name, map(pool)] as const);
  const slots = new Set(slotsOf(pools));
  return rolloutIssues(
    { pools: Object.fromEntries(named), pausedNodes: texts(map(rollout).pausedNodes) },
    pools.flatMap(({ name, role }) => (role === "control-plane" ? CONTROL_PLANE_GROUP : (name ?? []))),
    {
      has: (name) => slots.has(slotOfMachine(name)) && /-[0-9a-z]{5}$/.test(name),
      known: [...slots].map((slot) => `${slot}-<hash>`),
    },
  ).map(({ path, message }) => ({ path: ["cluster", "rollout", ...path], message }));
}
