import * as pulumi from "@pulumi/pulumi";
import { fullStackName } from "../layers/stack-name";
import { Transient, waitFor } from "../wait";
import type { StateResources } from "./state";

/** How long an answer with the state may fail. */
const STATE_SECONDS = 20;

/** Returns "project/stack" of this program. */
export function stackName(): string {
  return `${pulumi.getProject()}/${pulumi.getStack()}`;
}

/** The outputs of a stack as its state has them. */
export interface StackOutputs {
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Names of the outputs that are secret or have a secret part; the values are in plain text. */
  readonly secretOutputNames: readonly string[];
}

/** How long a stack has to be unknown: a backend of files replaces a state in two steps. */
const UNKNOWN_MILLISECONDS = 1500;

/**
 * Reads the outputs of a stack, as a StackReference does, but without a resource: the state of the running stack
 * does not change, and a stack that does not exist is an answer, not the end of the run.
 *
 * @param name "organization/project/stack"
 * @returns undefined when there is no such stack
 * @throws WaitTimeout with the engine's last error
 */
export async function readStackOutputs(name: string): Promise<StackOutputs | undefined> {
  let unknownSince: number | undefined;
  return waitFor<StackOutputs | undefined>({
    what: `the outputs of ${name}`,
    seconds: STATE_SECONDS,
    probe: async () => {
      try {
        const answer: unknown = await pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", { name }, {});
        const { outputs = {}, secretOutputNames = [] } = answer as Partial<StackOutputs>;
        return { done: { outputs, secretOutputNames } };
      } catch (error) {
        const { message, code } = error as Error & { code?: number };
        // an engine that ends answers nothing more
        if (code !== undefined) throw error;
        if (!message.includes("unknown stack")) return { pending: message };
        unknownSince ??= Date.now();
        const isUnknown = Date.now() - unknownSince >= UNKNOWN_MILLISECONDS;
        return isUnknown ? { done: undefined } : { pending: "there is no such stack" };
      }
    },
  });
}

/** Returns "organization/project/stack" of a stack that this program names. */
export const qualifiedName = (stack: string): string =>
  fullStackName(stack, { organization: organizationName(), project: pulumi.getProject() });

/** Returns "organization/project/stack" of this program. */
export const ownStack = (): string => qualifiedName(pulumi.getStack());

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
 * new stack. The engine answers it in previews and updates, whichever backend keeps the state. A failed answer is asked for
 * again: in a backend of files, the engine may be replacing what it reads (`.attrs` of gocloud.dev's fileblob).
 *
 * @throws WaitTimeout with the engine's last error
 */
export async function readStackResources(): Promise<StateResources> {
  const name = ownStack();
  return waitFor({
    what: `the state of ${name}`,
    seconds: STATE_SECONDS,
    probe: async () => {
      const answer = (await pulumi.runtime
        .invoke("pulumi:pulumi:readStackResourceOutputs", { stackName: name }, {})
        .catch((error: Error & { code?: number }) => {
          // an engine that ends answers nothing more
          throw error.code === undefined ? new Transient(error.message) : error;
        })) as { outputs?: StateResources } | undefined;
      return { done: answer?.outputs ?? {} };
    },
  });
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

  protected abstract make(existing: StateResources): Parts | Promise<Parts>;

  /** Returns a part of the component as an output; only this part decides whether it is known or secret. */
  protected part<T>(pick: (parts: Parts) => pulumi.Input<T>): pulumi.Output<T> {
    return pulumi.output(this.getData().then(pick)) as pulumi.Output<T>;
  }
}
