import * as pulumi from "@pulumi/pulumi";
import type { StateResources } from "./state";

/** Returns "project/stack" of this program. */
export function stackName(): string {
  return `${pulumi.getProject()}/${pulumi.getStack()}`;
}

/** Name of the organization; mocks of the engine may have none, and then it is that of backends without organizations. */
function organizationName(): string {
  try {
    return pulumi.getOrganization();
  } catch {
    return "organization";
  }
}

/**
 * The resources of the running stack as its state had them when this run began: URN → type and outputs. Empty for a
 * new stack. The engine answers it in previews and updates, whichever backend keeps the state.
 */
export async function readStackResources(): Promise<StateResources> {
  const name = `${organizationName()}/${stackName()}`;
  const answer = (await pulumi.runtime.invoke(
    "pulumi:pulumi:readStackResourceOutputs",
    { stackName: name },
    {},
  )) as { outputs?: StateResources } | undefined;
  return answer?.outputs ?? {};
}

/**
 * A component whose resources depend on what the stack's state contains: which machines exist, and which of them have
 * joined. It reads the state first and then creates its resources, so callers pass no state.
 */
export abstract class ComponentWithState<Parts extends object> extends pulumi.ComponentResource<Parts> {
  /** Pulumi calls this in the constructor, before the fields of the class are set; `make` runs after that. */
  protected override async initialize(): Promise<Parts> {
    return this.make(await readStackResources());
  }

  protected abstract make(existing: StateResources): Parts;

  /** Returns a part of the component as an output; only this part decides whether it is known or secret. */
  protected part<T>(pick: (parts: Parts) => pulumi.Input<T>): pulumi.Output<T> {
    return pulumi.output(this.getData().then(pick)) as pulumi.Output<T>;
  }
}
