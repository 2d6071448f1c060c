import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Transient } from "../../lib/wait";

/**
 * Reads a path of the API server with kubectl, as an operator would.
 * @throws Transient with kubectl's last lines
 */
export async function readThroughApiServer(
  { kubectl, kubeconfigFile }: { kubectl: string; kubeconfigFile: string },
  path: string,
): Promise<string> {
  try {
    const args = ["--kubeconfig", kubeconfigFile, "get", "--raw", path, "--request-timeout=10s"];
    return (await promisify(execFile)(kubectl, args, { timeout: 20_000 })).stdout;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Transient(stderr?.trim().split("\n").at(-1) ?? message);
  }
}
