import type * as pulumi from "@pulumi/pulumi";

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
