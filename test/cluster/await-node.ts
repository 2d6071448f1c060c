import type { Node } from "../../lib/kubernetes";
import type { TestCluster } from "./test-cluster";

/**
 * Waits until a Node of the cluster is as it should be.
 *
 * @param decide returns undefined then, and what it waits for before
 */
export async function awaitNode(
  cluster: TestCluster,
  name: string,
  { what, seconds, decide }: { what: string; seconds: number; decide: (node: Node) => string | undefined },
): Promise<void> {
  await cluster.withApi((client) =>
    client.watchUntil<void, Node>({
      what,
      apiVersion: "v1",
      kind: "Node",
      name,
      seconds,
      decide: ([node]) => {
        const pending = node ? decide(node) : "there is no Node";
        return pending === undefined ? { done: undefined } : { pending };
      },
    }),
  );
}
