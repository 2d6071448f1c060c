import { chmod, writeFile } from "node:fs/promises";
import { kubeconfigFile } from "../paths";
import { KUBERNETES_VERSION } from "./ssh-configuration";
import { stackOf, type EquippedContext } from "./system";

/**
 * Writes the kubeconfig of the cluster that a system's stack created, readable by its owner only.
 * @throws Error when the stack has no such output
 */
export async function writeKubeconfig(
  system: string,
  { kubeconfig }: { readonly kubeconfig?: unknown },
): Promise<void> {
  if (typeof kubeconfig !== "string")
    throw new Error(`the stack ${stackOf({ name: system })} has no output kubeconfig`);
  await writeFile(kubeconfigFile(system), kubeconfig, { mode: 0o600 });
  await chmod(kubeconfigFile(system), 0o600);
}

/** Returns the kubectl of the sandbox's clusters. */
export function kubectlOf({ toolchain }: EquippedContext): string {
  return toolchain.kubernetes(KUBERNETES_VERSION).kubectl;
}

/** Returns suggestions for the next commands. */
export function nextCommands(
  system: string,
  context: EquippedContext,
  nodes: readonly { readonly role: string }[],
): string[] {
  const workers = nodes.filter(({ role }) => role === "worker").length;
  return [
    `export KUBECONFIG=${kubeconfigFile(system)}`,
    `${kubectlOf(context)} get nodes`,
    `npm start -- ${system} --workers ${workers + 1}    # scale`,
    `npm run status                 # what is running, and how to run pulumi on it by hand`,
    `npm stop -- ${system}                # destroy`,
  ];
}
