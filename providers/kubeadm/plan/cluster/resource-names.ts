/** Names of a cluster's resources by which the stack's state is read. They never change, because state contains them. */
export const initResource = (cluster: string): string => `${cluster}-init`;
export const groupResource = (cluster: string, group: string): string => `${cluster}-${group}`;
export const agentsResource = (cluster: string): string => `${cluster}-node-agents`;
export const rolloutResource = (cluster: string): string => `${cluster}-rollout`;

/** Returns the name of a machine's preparation. @param revision `bootstrapRevision` */
export function prepareResource(cluster: string, machine: string, revision?: string): string {
  return [cluster, machine, "prepare", ...(revision ? [revision] : [])].join("-");
}

/** Returns the machine of a preparation; undefined for another command's name. */
export function preparedMachine(cluster: string, resource: string): string | undefined {
  if (!resource.startsWith(`${cluster}-`)) return undefined;
  return /^(.+)-prepare(?:-.*)?$/.exec(resource.slice(cluster.length + 1))?.[1];
}

/** Returns the name of the resources of a load balancer in front of a cluster's API servers. */
export const apiBalancerResource = (cluster: string): string => `${cluster}-api`;
