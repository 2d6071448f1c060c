import { cloudPlanSteps } from "./steps";

/**
 * Kinds of objects that a run creates in the cloud, in the order in which leftovers are deleted, with the service and
 * path of each. ":within" is the id of the parent object.
 */
export const OBJECT_KINDS = {
  "floating IP": ["network", "/floatingips"],
  "load balancer": ["load-balancer", "/lbaas/loadbalancers"],
  "load balancer member": ["load-balancer", "/lbaas/pools/:within/members"],
  "load balancer monitor": ["load-balancer", "/lbaas/healthmonitors"],
  listener: ["load-balancer", "/lbaas/listeners"],
  "load balancer pool": ["load-balancer", "/lbaas/pools"],
  server: ["compute", "/servers"],
  port: ["network", "/ports"],
  "router interface": ["network", "/routers/:within"],
  subnet: ["network", "/subnets"],
  router: ["network", "/routers"],
  network: ["network", "/networks"],
  "security group rule": ["network", "/security-group-rules"],
  "security group": ["network", "/security-groups"],
  "server group": ["compute", "/os-server-groups"],
  keypair: ["compute", "/os-keypairs"],
  "application credential": ["identity", "/users/:within/application_credentials"],
} as const;

export type ObjectKind = keyof typeof OBJECT_KINDS;

const ORDER = Object.keys(OBJECT_KINDS);

/** A cloud object with a cluster's owner tag. */
export interface MarkedObject {
  kind: ObjectKind;
  id: string;
  name: string;
  /** Id of the object that uses this one: the server of a port, the port of a floating IP. */
  serves?: string;
  /**
   * Id of the parent object, which the deletion needs: the router of a router interface, the pool of a member, the user
   * of an application credential.
   */
  within?: string;
  /** Whether a server has the ready tag: its node agent has reported it as ready. */
  initialized?: boolean;
}

interface Leftovers {
  /** Unused objects that are not in the state, in deletion order. */
  deleted: MarkedObject[];
  /** Why other objects that are not in the state are kept, one line each. */
  kept: string[];
}

/**
 * Finds objects that an interrupted run created and did not record: they have the cluster's owner tag and are not in
 * the state. The next run would create them again, or fail because they exist. A server with the ready tag is kept,
 * because it was in use before it was removed from the state; so are objects that any kept object uses.
 *
 * @param known the ids in the state
 */
export function leftoversOf(objects: readonly MarkedObject[], known: ReadonlySet<string>): Leftovers {
  const unknown = objects.filter(({ id }) => !known.has(id));
  const living = unknown.filter(({ initialized }) => initialized === true);
  const gone = new Set(unknown.filter((object) => !living.includes(object)).map(({ id }) => id));
  // Keep the port of a kept server, then the floating IP of that port.
  for (let before = -1; before !== gone.size;) {
    before = gone.size;
    for (const { id, serves } of unknown)
      if (serves !== undefined && serves !== "" && !gone.has(serves)) gone.delete(id);
  }
  const order = ({ kind }: MarkedObject) => ORDER.indexOf(kind);
  return {
    deleted: unknown
      .filter(({ id }) => gone.has(id))
      .sort((one, other) => order(one) - order(other) || one.id.localeCompare(other.id)),
    kept: living.map(
      ({ kind, name, id }) =>
        `the ${kind} ${name} (${id}) carries this cluster's mark, has worked, and is not in the state: import it, or delete it yourself`,
    ),
  };
}

/** Returns the preview's line for a leftover. */
export function leftoverLine({ kind, name, id }: MarkedObject): string {
  return cloudPlanSteps.format({ kind: "deleteLeftover", object: `${kind} ${name === "" ? id : name}` });
}
