import type { MarkedObject, ObjectKind } from "../../core/openstack/leftovers";
import { waitFor } from "../wait";
import type { Cloud, CloudService } from "./cloud";
import { CloudRefusal } from "./errors";

/** Where an object of a kind lies; router interfaces are taken off their router instead, members lie in their pool. */
const PLACES: Readonly<
  Record<Exclude<ObjectKind, "router interface" | "load balancer member">, [CloudService, string]>
> = {
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

/** What goes on existing for a while after its deletion was accepted. */
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
 * Deletes an object and waits until it is gone. One that is gone already is no error; one that is in use or changes
 * just now is waited for.
 *
 * @throws WaitTimeout with the cloud's words when it stays; CloudRefusal, CloudUnreachable
 */
export async function deleteObject(
  cloud: Cloud,
  object: MarkedObject,
  options: DeleteOptions,
): Promise<void> {
  const { kind, id, within = "" } = object;
  await waitFor({
    what: `the ${kind} ${id} to be deleted`,
    seconds: SECONDS,
    firstPauseMilliseconds: 1000,
    ...options,
    probe: async () => {
      try {
        if (kind === "router interface") {
          await cloud.call("network", "PUT", `/routers/${within}/remove_router_interface`, { port_id: id });
          return { done: undefined };
        }
        const [service, folder]: [CloudService, string] =
          kind === "load balancer member"
            ? ["load-balancer", `/lbaas/pools/${within}/members`]
            : PLACES[kind];
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
