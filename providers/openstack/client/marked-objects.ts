import { INITIALIZED_KEY, MARK_KEY } from "../plan/machine";
import { carriesMark } from "../../../lib/pulumi/marks";
import type { MarkedObject, ObjectKind } from "../plan/leftovers";
import type { Cloud, CloudService } from "./cloud";
import { listAll } from "./list-all";

/** Fields of a Neutron or Octavia object. */
interface Described {
  id: string;
  name?: string;
  description?: string | null;
  device_id?: string;
  port_id?: string | null;
  floating_ip_address?: string;
}

/** Which objects to search for. */
interface DesiredMark {
  mark: string;
  /** Regular expression of the cluster's server names. */
  servers: string;
  /** Names of the cluster's security groups. */
  securityGroups: readonly string[];
  /** Whether the cluster has a load balancer. */
  loadBalancer: boolean;
  /** Whether the stack creates an application credential for the cluster. */
  ownCredential: boolean;
}

/** Reads all cloud objects with a cluster's owner tag, both those in the state and leftovers of an interrupted run. */
export async function readMarkedObjects(cloud: Cloud, desired: DesiredMark): Promise<MarkedObject[]> {
  const found = await Promise.all([
    readServers(cloud, desired),
    readNamed(cloud, desired, "server group", "/os-server-groups", "server_groups"),
    readKeypairs(cloud, desired),
    readDescribed(cloud, desired, "network", "network", "/networks", "networks"),
    readDescribed(cloud, desired, "network", "subnet", "/subnets", "subnets"),
    readDescribed(cloud, desired, "network", "port", "/ports", "ports"),
    readDescribed(cloud, desired, "network", "floating IP", "/floatingips", "floatingips"),
    readRouters(cloud, desired),
    readSecurityGroups(cloud, desired),
    ...(desired.loadBalancer ? [readLoadBalancers(cloud, desired)] : []),
    ...(desired.ownCredential ? [readCredentials(cloud, desired)] : []),
  ]);
  return found.flat();
}

async function readServers(cloud: Cloud, { mark, servers }: DesiredMark): Promise<MarkedObject[]> {
  const path = `/servers/detail?name=${encodeURIComponent(servers)}`;
  const found = await listAll<{ id: string; name: string; metadata: Record<string, string> }>(
    cloud,
    "compute",
    path,
    "servers",
  );
  return found
    .filter(({ metadata }) => metadata[MARK_KEY] === mark)
    .map(({ id, name, metadata }) => ({
      kind: "server",
      id,
      name,
      initialized: metadata[INITIALIZED_KEY] === "true",
    }));
}

async function readNamed(
  cloud: Cloud,
  { mark }: DesiredMark,
  kind: ObjectKind,
  path: string,
  key: string,
): Promise<MarkedObject[]> {
  const found = await listAll<{ id: string; name: string }>(cloud, "compute", path, key);
  return found.filter(({ name }) => name.endsWith(`-${mark}`)).map(({ id, name }) => ({ kind, id, name }));
}

/** Reads keypairs. The id of a keypair is its name. */
async function readKeypairs(cloud: Cloud, { mark }: DesiredMark): Promise<MarkedObject[]> {
  const found = await listAll<{ keypair: { name: string } }>(cloud, "compute", "/os-keypairs", "keypairs");
  return found
    .filter(({ keypair: { name } }) => name.endsWith(`-${mark}`))
    .map(({ keypair: { name } }) => ({ kind: "keypair", id: name, name }));
}

async function readDescribed(
  cloud: Cloud,
  { mark }: DesiredMark,
  service: CloudService,
  kind: ObjectKind,
  path: string,
  key: string,
): Promise<MarkedObject[]> {
  const query = `?description=${encodeURIComponent(`foresail ${mark}`)}`;
  const found = await listAll<Described>(cloud, service, `${path}${query}`, key);
  return found
    .filter(({ description }) => carriesMark(description, mark))
    .map(({ id, name, device_id, port_id, floating_ip_address }) => ({
      kind,
      id,
      name: name || floating_ip_address || "",
      ...(device_id ? { serves: device_id } : {}),
      ...(port_id ? { serves: port_id } : {}),
    }));
}

/** Reads routers and their interfaces, which Neutron creates as ports without the tag in their description. */
async function readRouters(cloud: Cloud, desired: DesiredMark): Promise<MarkedObject[]> {
  const routers = await readDescribed(cloud, desired, "network", "router", "/routers", "routers");
  const interfaces = await Promise.all(
    routers.map(async ({ id: router, name }) => {
      const path = `/ports?device_owner=network:router_interface&device_id=${router}`;
      const ports = await listAll<Described>(cloud, "network", path, "ports");
      return ports.map(({ id }): MarkedObject => ({ kind: "router interface", id, name, within: router }));
    }),
  );
  return [...routers, ...interfaces.flat()];
}

/** Reads security groups and their rules. */
async function readSecurityGroups(
  cloud: Cloud,
  { mark, securityGroups }: DesiredMark,
): Promise<MarkedObject[]> {
  const query = securityGroups.map((name) => `name=${encodeURIComponent(name)}`).join("&");
  interface Group extends Described {
    security_group_rules: Described[];
  }
  const groups = await listAll<Group>(cloud, "network", `/security-groups?${query}`, "security_groups");
  return groups
    .filter(({ description }) => carriesMark(description, mark))
    .flatMap(({ id, name = "", security_group_rules: rules }): MarkedObject[] => [
      { kind: "security group", id, name },
      ...rules
        .filter(({ description }) => carriesMark(description, mark))
        .map((rule): MarkedObject => ({
          kind: "security group rule",
          id: rule.id,
          name: `${name}: ${rule.description?.replace(/ \(foresail .*$/, "") ?? ""}`,
        })),
    ]);
}

async function readLoadBalancers(cloud: Cloud, desired: DesiredMark): Promise<MarkedObject[]> {
  if (!(await cloud.has("load-balancer"))) return [];
  const read = (kind: ObjectKind, path: string, key: string) =>
    readDescribed(cloud, desired, "load-balancer", kind, path, key);
  const found = await Promise.all([
    read("load balancer", "/lbaas/loadbalancers", "loadbalancers"),
    read("listener", "/lbaas/listeners", "listeners"),
    read("load balancer pool", "/lbaas/pools", "pools"),
  ]);
  const pools = found.flat().filter(({ kind }) => kind === "load balancer pool");
  const parts = await Promise.all(pools.map((pool) => readPoolParts(cloud, pool)));
  return [...found, ...parts].flat();
}

/** Reads the members and the monitor of a pool, for which Octavia accepts no description. */
async function readPoolParts(cloud: Cloud, pool: MarkedObject): Promise<MarkedObject[]> {
  const path = `/lbaas/pools/${pool.id}/members`;
  const [members, monitors] = await Promise.all([
    listAll<Described>(cloud, "load-balancer", path, "members"),
    listAll<Described>(cloud, "load-balancer", `/lbaas/healthmonitors?pool_id=${pool.id}`, "healthmonitors"),
  ]);
  return [
    ...members.map(({ id, name = "" }): MarkedObject => ({
      kind: "load balancer member",
      id,
      name,
      within: pool.id,
    })),
    ...monitors.map(({ id, name = "" }): MarkedObject => ({ kind: "load balancer monitor", id, name })),
  ];
}

/** Reads application credentials of the current user; no other user can see or delete them. */
async function readCredentials(cloud: Cloud, { mark }: DesiredMark): Promise<MarkedObject[]> {
  const user = await cloud.user();
  if (user === undefined || !(await cloud.has("identity"))) return [];
  const path = `/users/${user}/application_credentials`;
  const found = await listAll<{ id: string; name: string }>(
    cloud,
    "identity",
    path,
    "application_credentials",
  );
  return found
    .filter(({ name }) => name.endsWith(`-${mark}`))
    .map(({ id, name }) => ({ kind: "application credential", id, name, within: user }));
}
