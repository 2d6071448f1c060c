import type { MarkedObject, ObjectKind } from "../plan/leftovers";
import { waitFor } from "../../../lib/wait";
import type { Cloud, CloudService } from "./cloud";
import { CloudRefusal } from "./errors";

/** Service and path of each kind of object. */
const PLACES: Readonly<Record<Exclude<ObjectKind, keyof typeof WITHIN>, [CloudService, string]>> = {
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

function placeOf({ kind, within = "" }: MarkedObject): [CloudService, string] {
  if (!(kind in WITHIN)) return PLACES[kind as keyof typeof PLACES];
  const [service, owners, parts] = WITHIN[kind as keyof typeof WITHIN];
  return [service, `${owners}/${within}${parts}`];
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
        const [service, folder] = placeOf(object);
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
