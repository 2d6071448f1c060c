import { INITIALIZED_KEY, MARK_KEY } from "../plan/machine";
import { carriesMark } from "../../../lib/pulumi/marks";
import type { MarkedObject, ObjectKind } from "../plan/leftovers";
import { waitFor } from "../../../lib/wait";
import type { Cloud, CloudService } from "./cloud";
import { CloudRefusal } from "./errors";

/** Service and path of each kind of object. */
const PATHS: Readonly<Record<Exclude<ObjectKind, keyof typeof WITHIN>, [CloudService, string]>> = {
  "floating IP": ["network", "/floatingips"],
  "load balancer": ["load-balancer", "/lbaas/loadbalancers"],
  "load balancer monitor": ["load-balancer", "/lbaas/healthmonitors"],
  listener: ["load-balancer", "/lbaas/listeners"],
  "load balancer pool": ["load-balancer", "/lbaas/pools"],
  server: ["compute", "/servers"],
  port: ["network", "/ports"],
  subnet: ["network", "/subnets"],
  router: ["network", "/routers"],
  network: ["network", "/networks"],
  "security group rule": ["network", "/security-group-rules"],
  "security group": ["network", "/security-groups"],
  "server group": ["compute", "/os-server-groups"],
  keypair: ["compute", "/os-keypairs"],
};

/** Service and path of objects that are part of another one. */
const WITHIN = {
  "router interface": ["network", "/routers", ""],
  "load balancer member": ["load-balancer", "/lbaas/pools", "/members"],
  "application credential": ["identity", "/users", "/application_credentials"],
} as const satisfies Partial<Record<ObjectKind, readonly [CloudService, string, string]>>;

function pathOf({ kind, within = "" }: MarkedObject): [CloudService, string] {
  if (!(kind in WITHIN)) return PATHS[kind as keyof typeof PATHS];
  const [service, owners, parts] = WITHIN[kind as keyof typeof WITHIN];
  return [service, `${owners}/${within}${parts}`];
}

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
    readServerGroups(cloud, desired),
    readKeypairs(cloud, desired),
    readDescribed(cloud, desired, "network"),
    readDescribed(cloud, desired, "subnet"),
    readDescribed(cloud, desired, "port"),
    readDescribed(cloud, desired, "floating IP"),
    readRouters(cloud, desired),
    readSecurityGroups(cloud, desired),
    ...(desired.loadBalancer ? [readLoadBalancers(cloud, desired)] : []),
    ...(desired.ownCredential ? [readCredentials(cloud, desired)] : []),
  ]);
  return found.flat();
}

async function readServers(cloud: Cloud, { mark, servers }: DesiredMark): Promise<MarkedObject[]> {
  const path = `/servers/detail?name=${encodeURIComponent(servers)}`;
  const found = await cloud.list<{ id: string; name: string; metadata: Record<string, string> }>(
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

async function readServerGroups(cloud: Cloud, { mark }: DesiredMark): Promise<MarkedObject[]> {
  const [service, path] = PATHS["server group"];
  const found = await cloud.list<{ id: string; name: string }>(service, path, "server_groups");
  return found
    .filter(({ name }) => name.endsWith(`-${mark}`))
    .map(({ id, name }) => ({ kind: "server group", id, name }));
}

/** Reads keypairs. The id of a keypair is its name. */
async function readKeypairs(cloud: Cloud, { mark }: DesiredMark): Promise<MarkedObject[]> {
  const found = await cloud.list<{ keypair: { name: string } }>("compute", "/os-keypairs", "keypairs");
  return found
    .filter(({ keypair: { name } }) => name.endsWith(`-${mark}`))
    .map(({ keypair: { name } }) => ({ kind: "keypair", id: name, name }));
}

/** Reads the objects of a kind whose description has the owner tag. */
async function readDescribed(
  cloud: Cloud,
  { mark }: DesiredMark,
  kind: keyof typeof PATHS,
): Promise<MarkedObject[]> {
  const [service, path] = PATHS[kind];
  // The property of the response has the name of the last part of the path.
  const key = path.slice(path.lastIndexOf("/") + 1);
  const query = `?description=${encodeURIComponent(`foresail ${mark}`)}`;
  const found = await cloud.list<Described>(service, `${path}${query}`, key);
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
  const routers = await readDescribed(cloud, desired, "router");
  const interfaces = await Promise.all(
    routers.map(async ({ id: router, name }) => {
      const path = `/ports?device_owner=network:router_interface&device_id=${router}`;
      const ports = await cloud.list<Described>("network", path, "ports");
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
  const groups = await cloud.list<Group>("network", `/security-groups?${query}`, "security_groups");
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
  const kinds = ["load balancer", "listener", "load balancer pool"] as const;
  const found = await Promise.all(kinds.map((kind) => readDescribed(cloud, desired, kind)));
  const pools = found.flat().filter(({ kind }) => kind === "load balancer pool");
  const parts = await Promise.all(pools.map((pool) => readPoolParts(cloud, pool)));
  return [...found, ...parts].flat();
}

/** Reads the members and the monitor of a pool, for which Octavia accepts no description. */
async function readPoolParts(cloud: Cloud, pool: MarkedObject): Promise<MarkedObject[]> {
  const path = `/lbaas/pools/${pool.id}/members`;
  const [members, monitors] = await Promise.all([
    cloud.list<Described>("load-balancer", path, "members"),
    cloud.list<Described>("load-balancer", `/lbaas/healthmonitors?pool_id=${pool.id}`, "healthmonitors"),
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
  const found = await cloud.list<{ id: string; name: string }>("identity", path, "application_credentials");
  return found
    .filter(({ name }) => name.endsWith(`-${mark}`))
    .map(({ id, name }) => ({ kind: "application credential", id, name, within: user }));
}

/** Kinds of objects that are deleted asynchronously. */
const SLOW: readonly ObjectKind[] = [
  "server",
  "load balancer",
  "load balancer member",
  "load balancer monitor",
  "listener",
  "load balancer pool",
];

const SECONDS = 300;

export interface DeleteOptions {
  signal?: AbortSignal;
  progress?: (line: string) => void;
}

/**
 * Deletes an object and waits until it no longer exists. An object that is already deleted is not an error. Retries
 * while the object is in use or locked by another change.
 *
 * @throws WaitTimeout with the cloud's message at the deadline; CloudRefusal, CloudUnreachable
 */
export async function deleteObject(
  cloud: Cloud,
  object: MarkedObject,
  options: DeleteOptions,
): Promise<void> {
  const { kind, id } = object;
  await waitFor({
    what: `the ${kind} ${id} to be deleted`,
    seconds: SECONDS,
    firstPauseMilliseconds: 1000,
    ...options,
    probe: async () => {
      try {
        const [service, folder] = pathOf(object);
        if (kind === "router interface") {
          await cloud.call(service, "PUT", `${folder}/remove_router_interface`, { port_id: id });
          return { done: undefined };
        }
        const path = `${folder}/${encodeURIComponent(id)}`;
        await cloud.call(service, "DELETE", kind === "load balancer" ? `${path}?cascade=true` : path);
        if (!SLOW.includes(kind)) return { done: undefined };
        await cloud.call(service, "GET", path);
        return { pending: "it is on its way out" };
      } catch (error) {
        if (error instanceof CloudRefusal && error.status === 404) return { done: undefined };
        if (error instanceof CloudRefusal && error.status === 409) return { pending: error.message };
        throw error;
      }
    },
  });
}
