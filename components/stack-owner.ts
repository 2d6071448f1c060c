import * as pulumi from "@pulumi/pulumi";
import { ownStack } from "../lib/pulumi/stack";
import { StackIdentity } from "../providers/stack/resources/declarations";

/** This stack as the owner of what it creates. The id is unknown in the first preview, and "" if `--target` leaves it out. */
export interface StackOwner {
  /** Made once for the stack. */
  readonly id: pulumi.Output<string>;
  /** "organization/project/stack" */
  readonly stack: string;
}

/** The name of the resource, of which a stack has one. */
const NAME = "foresail-identity";

/** By the stack's resource: one process may run several stacks, and one program may load this module twice. */
const owners = ((globalThis as Record<symbol, unknown>)[Symbol.for("foresail/stack-owner")] ??=
  new WeakMap()) as WeakMap<object, StackOwner>;

/**
 * Returns the owner of what this stack creates. The first caller of a run registers the stack's identity.
 *
 * @param cluster name of the only cluster that the stack can have; the identity refuses another one from then on
 */
export function stackOwner(cluster?: string): StackOwner {
  const stack = pulumi.runtime.getStackResource();
  const known = stack && owners.get(stack);
  if (known) return known;
  const name = ownStack();
  const { id } = new StackIdentity(NAME, { stack: name, ...(cluster === undefined ? {} : { cluster }) });
  const owner = { id: id.apply((text: string | undefined) => text ?? ""), stack: name };
  if (stack) owners.set(stack, owner);
  return owner;
}
