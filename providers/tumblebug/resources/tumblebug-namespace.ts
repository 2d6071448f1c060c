import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { withSecrets, type TumblebugObjectArgs } from "./tumblebug-object";

type TumblebugNamespaceArgs = Pick<
  TumblebugObjectArgs,
  "server" | "name" | "mark" | "keepOnDelete" | "foreign"
>;

/** A namespace of the server. An existing namespace is used and never deleted. */
export class TumblebugNamespace extends DynamicResource {
  constructor(name: string, args: TumblebugNamespaceArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugNamespace", name, { ...args }, ["made"], withSecrets(opts));
  }
}
