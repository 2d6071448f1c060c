import { carriesMark } from "../../../lib/pulumi/marks";
import { waitFor } from "../../../lib/wait";
import { OBJECT_KINDS, type MarkedObject, type ObjectKind } from "../plan/leftovers";
import { INITIALIZED_KEY, MARK_KEY } from "../plan/machine";
import type { Cloud, CloudService } from "./cloud";
import { CloudRefusal } from "./errors";

function pathOf(kind: ObjectKind, within = ""): [CloudService, string] {
  const [service, path] = OBJECT_KINDS[kind];
  return [service, path.replace(":within", within)];
}

/** The fields of listed objects that foresail reads; each kind has some of them. */
interface Item {
  id: string;
  name?: string;
  description?: string | null;
  device_id?: string;
  port_id?: string | null;
  floating_ip_address?: string;
  metadata?: Readonly<Record<string, string>>;
  keypair?: { name: string };
  security_group_rules?: Item[];
}

/** Which objects to search for. */
interface DesiredMark {
  mark: string;
  /** Names of the cluster's security groups. */
  securityGroups: readonly string[];
  /** Whether the cluster has a load balancer. */
  loadBalancer: boolean;
  /** Whether the stack creates an application credential for the cluster. */
  ownCredential: boolean;
}

/** Reads all cloud objects with a cluster's owner tag, both those in the state and leftovers of an interrupted run. */
export async function readMarkedObjects(cloud: Cloud, desired: DesiredMark): Promise<MarkedObject[]> {
  const { mark } = desired;
  const list = async (kind: ObjectKind, query = "", within?: string): Promise<Item[]> => {
    const [service, path] = pathOf(kind, within);
    // The property of the response has the name of the last part of the path.
    const key = path.slice(path.lastIndexOf("/") + 1).replace(/^os-/, "");
    return cloud.list<Item>(service, `${path}${query}`, key.replaceAll("-", "_"));
  };
  const isDescribed = ({ description }: Item) => carriesMark(description, mark);
  /** Reads the objects of a kind whose description has the owner tag. */
  const described = async (kind: ObjectKind): Promise<MarkedObject[]> => {
    const items = await list(kind, `?description=${encodeURIComponent(`foresail ${mark}`)}`);
    return items.filter(isDescribed).map(({ id, name, device_id, port_id, floating_ip_address }) => {
      const serves = port_id || device_id;
      return { kind, id, name: name || floating_ip_address || "", ...(serves ? { serves } : {}) };
    });
  };
  /** Reads the objects of a kind without descriptions: the owner tag is the end of the name. */
  const named = async (kind: ObjectKind, within?: string): Promise<MarkedObject[]> => {
    const items = (await list(kind, "", within)).map(({ id, name = "", keypair }) =>
      // The id of a keypair is its name.
      keypair ? { id: keypair.name, name: keypair.name } : { id, name, ...(within ? { within } : {}) },
    );
    return items.filter(({ name }) => name.endsWith(`-${mark}`)).map((item) => ({ kind, ...item }));
  };
  const servers = async (): Promise<MarkedObject[]> => {
    // Names of machines end with an index and a hash.
    const query = encodeURIComponent("-[0-9]+-[0-9a-z]+$");
    const items = await cloud.list<Item>("compute", `/servers/detail?name=${query}`, "servers");
    return items
      .filter(({ metadata }) => metadata?.[MARK_KEY] === mark)
      .map(({ id, name = "", metadata }) => {
        return { kind: "server", id, name, initialized: metadata?.[INITIALIZED_KEY] === "true" };
      });
  };
  /** Reads routers and their interfaces, which Neutron creates as ports without the tag in their description. */
  const routers = async (): Promise<MarkedObject[]> => {
    const found = await described("router");
    const interfaces = found.map(async ({ id: within, name }) => {
      const ports = await list("port", `?device_owner=network:router_interface&device_id=${within}`);
      return ports.map(({ id }): MarkedObject => ({ kind: "router interface", id, name, within }));
    });
    return [...found, ...(await Promise.all(interfaces)).flat()];
  };
  const securityGroups = async (): Promise<MarkedObject[]> => {
    const query = desired.securityGroups.map((name) => `name=${encodeURIComponent(name)}`).join("&");
    const groups = (await list("security group", `?${query}`)).filter(isDescribed);
    return groups.flatMap(({ id, name = "", security_group_rules: rules = [] }): MarkedObject[] => [
      { kind: "security group", id, name },
      ...rules.filter(isDescribed).map((rule): MarkedObject => {
        const words = rule.description?.replace(/ \(foresail .*$/, "") ?? "";
        return { kind: "security group rule", id: rule.id, name: `${name}: ${words}` };
      }),
    ]);
  };
  /** Reads a load balancer and its parts: Octavia accepts no description for members and monitors. */
  const loadBalancers = async (): Promise<MarkedObject[]> => {
    if (!(await cloud.has("load-balancer"))) return [];
    const kinds = ["load balancer", "listener", "load balancer pool"] as const;
    const found = (await Promise.all(kinds.map(described))).flat();
    const pools = found.filter(({ kind }) => kind === "load balancer pool");
    const parts = pools.map(async ({ id: within }) => {
      const [members, monitors] = await Promise.all([
        list("load balancer member", "", within),
        list("load balancer monitor", `?pool_id=${within}`),
      ]);
      return [
        ...members.map(({ id, name = "" }) => ({ kind: "load balancer member" as const, id, name, within })),
        ...monitors.map(({ id, name = "" }) => ({ kind: "load balancer monitor" as const, id, name })),
      ];
    });
    return [...found, ...(await Promise.all(parts)).flat()];
  };
  /** Reads application credentials of the current user; no other user can see or delete them. */
  const credentials = async (): Promise<MarkedObject[]> => {
    const { user } = await cloud.token();
    if (user === undefined || !(await cloud.has("identity"))) return [];
    return named("application credential", user.id);
  };
  const found = await Promise.all([
    servers(),
    ...(["server group", "keypair"] as const).map((kind) => named(kind)),
    ...(["network", "subnet", "port", "floating IP"] as const).map(described),
    routers(),
    securityGroups(),
    desired.loadBalancer ? loadBalancers() : [],
    desired.ownCredential ? credentials() : [],
  ]);
  return found.flat();
}

const SECONDS = 300;

/**
 * Deletes an object and waits until it no longer exists. An object that is already deleted is not an error. Retries
 * while the object is in use or locked by another change.
 *
 * @throws WaitTimeout with the cloud's message at the deadline; CloudRefusal, CloudUnreachable
 */
export async function deleteObject(
  cloud: Cloud,
  { kind, id, within }: MarkedObject,
  options: { signal?: AbortSignal; progress?: (line: string) => void },
): Promise<void> {
  const [service, folder] = pathOf(kind, within);
  const path = `${folder}/${encodeURIComponent(id)}`;
  await waitFor({
    what: `the ${kind} ${id} to be deleted`,
    seconds: SECONDS,
    firstPauseMilliseconds: 1000,
    ...options,
    probe: async () => {
      try {
        if (kind === "router interface") {
          await cloud.call(service, "PUT", `${folder}/remove_router_interface`, { port_id: id });
          return { done: undefined };
        }
        await cloud.call(service, "DELETE", kind === "load balancer" ? `${path}?cascade=true` : path);
        // Only these are deleted asynchronously.
        if (kind !== "server" && service !== "load-balancer") return { done: undefined };
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
