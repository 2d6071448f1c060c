/** By cluster: the workers whose machines the installation of the node agents did not reach in this run. */
const unreached = new Map<string, readonly string[]>();

/**
 * Remembers them for the rollout of the same run, which leaves them out and reports them. They are not in the state: the
 * next run asks the machines again.
 */
export function rememberUnreached(cluster: string, machines: readonly string[]): void {
  unreached.set(cluster, machines);
}

/** The workers of a cluster that this run did not reach; none in a preview, which asks no machine. */
export function unreachedMachines(cluster: string): readonly string[] {
  return unreached.get(cluster) ?? [];
}
