import * as pulumi from "@pulumi/pulumi";
import type { StateResources } from "./state";

/** Returns "project/stack" of this program. */
export function stackName(): string {
  return `${pulumi.getProject()}/${pulumi.getStack()}`;
}

/**
 * The resources of the running stack as its state had them when this run began: URN → type and outputs. Empty for a
 * new stack. The engine answers it in previews and updates, whichever backend keeps the state.
 */
export async function readStackResources(): Promise<StateResources> {
  const name = `${pulumi.getOrganization()}/${stackName()}`;
  const answer = (await pulumi.runtime.invoke(
    "pulumi:pulumi:readStackResourceOutputs",
    { stackName: name },
    {},
  )) as { outputs?: StateResources } | undefined;
  return answer?.outputs ?? {};
}
