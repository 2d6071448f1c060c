import type * as pulumi from "@pulumi/pulumi";

/**
 * Returns a map of outputs that may be missing: the engine answers without outputs for a resource that `--target` leaves
 * out, so that reading a field of it would throw.
 */
export function orEmpty<T extends object>(output: pulumi.Output<T>): pulumi.Output<Partial<T>> {
  return output.apply<Partial<T>>((value: T | undefined) => ({ ...value }));
}

/**
 * Returns a value that is read from a resource's output. If `--target` leaves out a resource that does not exist yet,
 * the engine answers without its outputs: then the value is undefined, and `read` is not called.
 */
export function whenMade<Made, Value>(
  output: pulumi.Output<Made>,
  read: (made: Made) => pulumi.Input<Value>,
): pulumi.Output<Value> {
  return output.apply((made) => (made === undefined ? undefined : read(made))) as pulumi.Output<Value>;
}
