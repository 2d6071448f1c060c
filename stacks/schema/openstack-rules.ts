import type { Mistake } from "../../core/validation/mistake";
import { openstackMistakes, type PoolFacts } from "../../core/validation/openstack";
import { rolloutMistakes } from "../../core/validation/rollout";
import { CONTROL_PLANE_GROUP } from "../../core/machine";
import { isObject } from "./rule";

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): string[] => list(value).flatMap((item) => text(item) ?? []);
const map = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
const whole = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise);

function poolFacts(value: unknown): PoolFacts {
  const { name, role, replicas, floatingIp, maxSurge } = map(value);
  return {
    ...(text(name) === undefined ? {} : { name: text(name) }),
    ...(role === "control-plane" || role === "worker" ? { role } : {}),
    // a number that is wrong by itself has its own mistake
    replicas: whole(replicas, 1),
    floatingIp: floatingIp === true,
    maxSurge: whole(maxSurge, 1),
  };
}

/**
 * The rules that look at several fields of `foresail:openstack` together, and at the cluster's network.
 * @param section the value as it was written; a field that is wrong by itself may hold anything, and is passed over
 */
export function openstackSectionMistakes(section: unknown, cluster: unknown): Mistake[] {
  if (!isObject(section)) return [];
  const network = map(section.network);
  const access = map(section.access);
  const inside = map(map(cluster).network);
  const pools = list(section.pools).map(poolFacts);
  const found = openstackMistakes({
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
    ...poolRolloutMistakes(map(cluster).rollout, pools),
  ];
}

/** What the rollout says of pools. Nodes that it names have a hash in their names, which nobody knows here. */
function poolRolloutMistakes(rollout: unknown, pools: readonly PoolFacts[]): Mistake[] {
  const named = Object.entries(map(map(rollout).pools)).map(([name, pool]) => [name, map(pool)] as const);
  return rolloutMistakes(
    { pools: Object.fromEntries(named), pausedNodes: [] },
    pools.map(({ name, role }) => ({
      name,
      pool: role === "control-plane" ? CONTROL_PLANE_GROUP : (name ?? ""),
    })),
  ).map(({ path, message }) => ({ path: ["cluster", "rollout", ...path], message }));
}
