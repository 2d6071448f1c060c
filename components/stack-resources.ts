import * as pulumi from "@pulumi/pulumi";
import type { StateResources } from "../lib/pulumi/state-resources";

/**
 * The resources of the running stack as its state had them when this run began: URN → type and outputs. Empty for a
 * new stack. The engine answers it in previews and updates, whichever backend keeps the state.
 */
export async function readStackResources(): Promise<StateResources> {
  const stackName = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
  const answer = (await pulumi.runtime.invoke(
    "pulumi:pulumi:readStackResourceOutputs",
    { stackName },
    {},
  )) as { outputs?: StateResources } | undefined;
  return answer?.outputs ?? {};
}
