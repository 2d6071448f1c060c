import { resourceClass } from "../../../lib/pulumi/dynamic-resource";

export interface StackIdentityInputs {
  /** "organization/project/stack"; it may change, and the resource's id stays. */
  stack: string;
  /** Name of the only cluster that the stack can have; absent in a program with clusters of its own. */
  cluster?: string;
}

/**
 * The identity of a stack: its id is a random UUID that is made once and stays in the state, whatever the stack is called
 * and wherever its state is. What a stack creates is marked with it (docs/adr/0071-ownership.md).
 */
export class StackIdentity extends resourceClass<StackIdentityInputs>("stack/StackIdentity") {}
