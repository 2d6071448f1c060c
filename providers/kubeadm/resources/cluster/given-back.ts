/** Machines that the ClusterInit of this run has reset or released, or has reported as unreachable, by cluster. */
const givenBack = new Map<string, Set<string>>();

/** Keeps them for the ClusterOwner, which is deleted after everything else. */
export function rememberGivenBack(cluster: string, machines: readonly { readonly name: string }[]): void {
  const known = givenBack.get(cluster) ?? new Set();
  for (const { name } of machines) known.add(name);
  givenBack.set(cluster, known);
}

/** Returns whether the ClusterInit of this run has dealt with a machine. */
export const wasGivenBack = (cluster: string, machine: string): boolean =>
  givenBack.get(cluster)?.has(machine) === true;
