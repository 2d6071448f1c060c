import type * as pulumi from "@pulumi/pulumi";

/**
 * Returns a map of outputs that may be missing: the engine answers without outputs for a resource that `--target` leaves
 * out, so that reading a field of it would throw.
 */
export function orEmpty<T extends object>(output: pulumi.Output<T>): pulumi.Output<Partial<T>> {
  return output.apply<Partial<T>>((value: T | undefined) => ({ ...value }));
}
