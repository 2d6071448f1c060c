/** The kinds of objects that a run makes in the cloud, in the order in which leftovers have to be deleted. */
export const OBJECT_KINDS = [
  "floating IP",
  "load balancer",
  "load balancer member",
  "load balancer monitor",
  "listener",
  "load balancer pool",
  "server",
  "port",
  "router interface",
  "subnet",
  "router",
  "network",
  "security group rule",
  "security group",
  "server group",
  "keypair",
  "application credential",
] as const;

export type ObjectKind = (typeof OBJECT_KINDS)[number];

/** An object of the cloud that carries a cluster's mark. */
export interface MarkedObject {
  kind: ObjectKind;
  id: string;
  name: string;
  /** Id of what it serves, if it serves something: a port its server, a floating IP its port. */
  serves?: string;
  /** Id of what it is a part of, by which it is deleted: a router interface its router, a member its pool, an application credential its user. */
  within?: string;
  /** A server whose node agent has found it ready. */
  initialized?: boolean;
}

export interface Leftovers {
  /** What nobody uses and nobody has on record, in the order in which it is deleted. */
  deleted: MarkedObject[];
  /** Why other objects without a record stay, a line each. */
  kept: string[];
}

/**
 * What a run that was cut off made and could not record: it carries the cluster's mark, and the state does not have
 * it. The next run would make it a second time, or be refused because it is there. A server that has worked and
 * whatever serves something living is no such thing: somebody took it out of the state, and it stays.
 *
 * @param known the ids that the state has
 */
export function leftoversOf(objects: readonly MarkedObject[], known: ReadonlySet<string>): Leftovers {
  const unknown = objects.filter(({ id }) => !known.has(id));
  const living = unknown.filter(({ initialized }) => initialized === true);
  const gone = new Set(unknown.filter((object) => !living.includes(object)).map(({ id }) => id));
  // a port stays with its server, and then a floating IP with its port
  for (let before = -1; before !== gone.size;) {
    before = gone.size;
    for (const { id, serves } of unknown)
      if (serves !== undefined && serves !== "" && !gone.has(serves)) gone.delete(id);
  }
  const order = ({ kind }: MarkedObject) => OBJECT_KINDS.indexOf(kind);
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

/** What the preview says of a leftover. */
export function leftoverLine({ kind, name, id }: MarkedObject): string {
  return `delete the ${kind} ${name === "" ? id : name}, which a run that was cut off made and did not record`;
}

/** The name of an object whose name is all that can carry the mark. */
export function markedName(name: string, mark: string): string {
  return `${name}-${mark}`;
}
