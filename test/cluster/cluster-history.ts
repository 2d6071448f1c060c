import type { Node } from "../../lib/kubernetes";
import type { OpenstackTestCluster } from "./openstack-test-cluster";

/** What was seen at one moment; servers first, so that a Node that is still there outlived its server. */
export interface Sample {
  /** Servers that exist and that no one deletes. */
  readonly servers: readonly string[];
  readonly nodes: readonly string[];
  /** Nodes that are Ready and schedulable. */
  readonly serving: readonly string[];
}

/**
 * Looks at the cloud's servers and the cluster's Nodes again and again while some work runs.
 * @returns what was seen, each time that something was different
 */
export async function recordHistory(
  cluster: OpenstackTestCluster,
  work: Promise<unknown>,
): Promise<Sample[]> {
  let isOver = false;
  const over = work.finally(() => (isOver = true));
  const samples: Sample[] = [];
  const look = cluster.withApi(async (client) => {
    do {
      const servers = (await cluster.servers())
        .filter((server) => server["OS-EXT-STS:task_state"] !== "deleting")
        .map(({ name }) => name);
      const nodes = await client.listNodes();
      const sample = {
        servers,
        nodes: nodes.map(nameOf).sort(),
        serving: nodes.filter(isServing).map(nameOf).sort(),
      };
      if (JSON.stringify(sample) !== JSON.stringify(samples.at(-1))) samples.push(sample);
    } while (!isOver);
  });
  await Promise.all([over, look]);
  return samples;
}

const nameOf = ({ metadata }: Node): string => metadata?.name ?? "";

const isServing = ({ spec, status }: Node): boolean =>
  spec?.unschedulable !== true && status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";

/** Nodes that outlived their servers: there must be none, since a machine leaves the cluster first. */
export function outlivedServers(history: readonly Sample[]): string[] {
  const had = new Set<string>();
  const found = new Set<string>();
  for (const { servers, nodes } of history) {
    for (const server of servers) had.add(server);
    for (const node of nodes) if (had.has(node) && !servers.includes(node)) found.add(node);
  }
  return [...found].sort();
}

/** The order in which objects disappeared. */
export function departures(lists: readonly (readonly string[])[]): string[] {
  const last = lists.at(-1) ?? [];
  const seen = [...new Set(lists.flat())].filter((name) => !last.includes(name));
  const end = (name: string) => lists.findLastIndex((list) => list.includes(name));
  return seen.sort((one, other) => end(one) - end(other));
}
