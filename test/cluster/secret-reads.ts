import { setTimeout as pause } from "node:timers/promises";
import { run } from "../../sandbox/nodes/command";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import type { TestCluster } from "./test-cluster";

const PAUSE_MILLISECONDS = 500;
const LIST = ["--request-timeout", "5s", "get", "secrets", "--all-namespaces", "--output", "name"];

/**
 * Reads every Secret through each of these control planes again and again while work goes on. An API server that does
 * not answer because it restarts is not a failure, but one that can't decrypt what it reads is.
 *
 * @returns the answers of API servers that could not read a Secret
 */
export async function unreadSecrets(
  cluster: TestCluster,
  controlPlanes: readonly string[],
  work: () => Promise<unknown>,
): Promise<string[]> {
  const { file } = await cluster.kubeconfig();
  const { kubectl } = cluster.toolchain.kubernetes(KUBERNETES_VERSION);
  const failures: string[] = [];
  let reads = 0;
  let isOver = false;
  const ended = work().finally(() => (isOver = true));
  const watch = async (name: string) => {
    while (!isOver) {
      await run(kubectl, ["--kubeconfig", file, "--context", `${cluster.name}-${name}`, ...LIST]).then(
        () => reads++,
        (error: unknown) => {
          const { message } = error as Error;
          if (/Internal error|InternalError|transform|decrypt/i.test(message))
            failures.push(`${name}: ${message}`);
        },
      );
      await pause(PAUSE_MILLISECONDS);
    }
  };
  await Promise.all([ended, ...controlPlanes.map(watch)]);
  if (reads < controlPlanes.length) throw new Error(`the Secrets were read only ${reads} times`);
  return failures;
}
