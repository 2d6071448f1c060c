import * as pulumi from "@pulumi/pulumi";
import { CollectedStack } from "../components/collector/collected-stack";
import { acceptedContexts, FetchedKubeconfig, KubeconfigRefused } from "../lib/kubernetes/fetched-kubeconfig";
import { ownStack, qualifiedName, readStackOutputs } from "../lib/pulumi/stack";
import { resourceMessage } from "../lib/steps/steps";
import { inform } from "../lib/pulumi/log";
import {
  type ClusterLogin,
  contextChanges,
  contextNames,
  mergeKubeconfigs,
} from "../providers/collector/plan/kubeconfig";
import type { ConfigurationOf } from "./schema";

/** Builds a stack of the system "collector": one kubeconfig with a context for each of several stacks. */
export async function collector({
  collector: { stacks },
}: ConfigurationOf<"collector">): Promise<Record<string, pulumi.Output<unknown>>> {
  const own = ownStack();
  const names = [...new Set(stacks.map(qualifiedName))].filter((name) => name !== own);
  const [before, ...logins] = await Promise.all([
    readStackOutputs(own),
    ...names.map(async (stack) => ({ stack, login: await readLogin(stack) })),
  ]);
  const { kubeconfig, contexts, missing } = mergeKubeconfigs(logins);
  for (const name of contextNames(names)) new CollectedStack(name);
  const earlier = before?.outputs["kubeconfig"];
  const changes = contextChanges(typeof earlier === "string" ? earlier : undefined, kubeconfig);
  await remark([
    ...changes.map(({ kind, context }) => `the context ${context} is ${kind}`),
    ...missing.map(({ stack, reason }) => `${stack} has no context: ${reason}`),
  ]);
  return {
    kubeconfig: pulumi.secret(kubeconfig),
    contexts: pulumi.output(contexts),
    missing: pulumi.output(missing),
  };
}

/** Prints lines that a review shows as remarks. */
async function remark(lines: readonly string[]): Promise<void> {
  for (const line of lines)
    await inform(resourceMessage.format({ type: "Collector", name: pulumi.getStack(), line }));
}

/** Returns the login of the current context of a stack's kubeconfig, or why there is none. */
async function readLogin(stack: string): Promise<ClusterLogin | string> {
  const found = await readStackOutputs(stack);
  if (found === undefined) return "there is no such stack";
  const { kubeconfig } = found.outputs;
  if (typeof kubeconfig !== "string") return "it has no output kubeconfig yet";
  try {
    const [login] = acceptedContexts(new FetchedKubeconfig(stack, kubeconfig));
    return login === undefined
      ? "its kubeconfig has no context"
      : { cluster: login.cluster, user: login.user };
  } catch (error) {
    if (error instanceof KubeconfigRefused) return `its kubeconfig is refused: ${error.issue}`;
    throw error;
  }
}
