import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ObjectInputs } from "./object-kind";

export type NamespaceInputs = Pick<
  ObjectInputs,
  "server" | "name" | "mark" | "keepOnDelete" | "foreign" | "steps"
>;

export interface NamespaceOutputs extends NamespaceInputs {
  /** Whether this stack created the namespace and so may delete it. */
  made: boolean;
}

/** A namespace of the server. An existing namespace is used and never deleted. */
export class TumblebugNamespace extends DynamicResource<NamespaceOutputs> {
  constructor(name: string, args: ResourceArgs<NamespaceInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugNamespace", name, args, { outputs: ["made"], secrets: ["server"] }, opts);
  }
}
