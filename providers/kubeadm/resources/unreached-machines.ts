/** Workers whose machines this run could not reach when it installed the node agents, by cluster. */
const unreached = new Map<string, readonly string[]>();

/**
 * Keeps them for the rollout of the same run, which leaves them out and reports them. They are not in the state: the
 * next run tries the machines again.
 */
export function rememberUnreached(cluster: string, machines: readonly string[]): void {
  unreached.set(cluster, machines);
}

/** Returns the workers of a cluster that this run did not reach; empty in a preview, which contacts no machine. */
export function unreachedMachines(cluster: string): readonly string[] {
  return unreached.get(cluster) ?? [];
}
