import type { CloudFacts, NewObjects, RecordedObject } from "./cloud-facts";
import type { MarkedObject, ObjectKind } from "./leftovers";
import { EXISTING_NETWORK, type NetworkKey } from "./machine";
import type { SecurityGroupName, SecurityRule } from "./security-rules";

/** Returns the name of the resources of a network that the stack creates. */
export const networkResource = (cluster: string, network: NetworkKey): string =>
  `${cluster}-${network.replace("/", "-")}`;

/** Returns the name of a cluster's security group, as a resource and in the cloud. */
export const securityGroupName = (cluster: string, group: SecurityGroupName): string => `${cluster}-${group}`;

export const ruleResource = (
  cluster: string,
  { group, name, cidr }: Pick<SecurityRule, "group" | "name" | "cidr">,
): string => `${cluster}-${group}-${name}${cidr === undefined ? "" : `-${cidr.replace("/", "-")}`}`;

/** Returns the name of the server group of a pool, which a pool with the placement "none" does not have. */
export const serverGroupResource = (
  cluster: string,
  { name, antiAffinity }: { name: string; antiAffinity: string },
): string => `${cluster}-${name}-${antiAffinity}`;

/** Kinds of leftovers → the quota of Neutron that they use. An interface of a router is a port. */
const QUOTA_OF: Partial<Record<ObjectKind, string>> = {
  "floating IP": "floatingip",
  port: "port",
  "router interface": "port",
  network: "network",
  subnet: "subnet",
  router: "router",
  "security group": "security_group",
  "security group rule": "security_group_rule",
};

/** Returns Neutron's quotas as they are after the leftovers were deleted, which a run does first. */
export function withoutLeftovers(
  quotas: NonNullable<CloudFacts["network"]>,
  leftovers: readonly Pick<MarkedObject, "kind">[],
): NonNullable<CloudFacts["network"]> {
  const freed = (key: string) => leftovers.filter(({ kind }) => QUOTA_OF[kind] === key).length;
  return Object.fromEntries(
    Object.entries(quotas).flatMap(([key, quota]) =>
      quota === undefined ? [] : [[key, { ...quota, used: quota.used - freed(key) }]],
    ),
  );
}

/** Neutron gives each new security group two rules for outgoing traffic. */
const RULES_OF_A_GROUP = 2;

/** Returns how many objects a run creates: those that the state does not have. */
export function newObjects(
  cluster: string,
  desired: {
    machines: readonly string[];
    networks: readonly NetworkKey[];
    groups: readonly SecurityGroupName[];
    rules: readonly SecurityRule[];
    pools: readonly { name: string; antiAffinity: string }[];
    /** Whether the run creates a load balancer, whose address is a port. */
    newBalancer: boolean;
  },
  recorded: { networkObjects: readonly RecordedObject[]; serverGroups: ReadonlySet<string> },
): NewObjects {
  const missing = (kind: RecordedObject["kind"], names: readonly string[]): number => {
    const known = new Set(recorded.networkObjects.flatMap((each) => (each.kind === kind ? [each.name] : [])));
    return new Set(names.filter((name) => !known.has(name))).size;
  };
  const networks = desired.networks
    .filter((key) => !key.startsWith(EXISTING_NETWORK))
    .map((key) => networkResource(cluster, key));
  const security_group = missing(
    "security group",
    desired.groups.map((group) => securityGroupName(cluster, group)),
  );
  const rules = desired.rules.map((rule) => ruleResource(cluster, rule));
  const serverGroups = desired.pools
    .filter(({ antiAffinity }) => antiAffinity !== "none")
    .map((pool) => serverGroupResource(cluster, pool));
  const ports = [...desired.machines.map((machine) => `${cluster}-${machine}`), ...networks];
  return {
    port: missing("port", ports) + (desired.newBalancer ? 1 : 0),
    network: missing("network", networks),
    subnet: missing("subnet", networks),
    router: networks.length === 0 ? 0 : missing("router", [cluster]),
    security_group,
    security_group_rule: missing("security group rule", rules) + RULES_OF_A_GROUP * security_group,
    server_groups: serverGroups.filter((name) => !recorded.serverGroups.has(name)).length,
  };
}
