import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ClusterInputs, Machine } from "../../kubeadm/resources/inputs";

export interface InitializedMarkInputs extends ClusterInputs {
  cloud?: string;
  region?: string;
  machines: Machine[];
  /** Machine name → id of its server. */
  servers: Record<string, string>;
  steps?: string[];
}

export interface InitializedMarkOutputs extends InitializedMarkInputs {
  /** Machine name → id of the server with the ready tag. */
  marked: Record<string, string>;
}

/**
 * The ready tag of every server, in its metadata. Foresail writes it after the machine's node agent has reported the
 * machine as ready over SSH, so machines need no cloud credential.
 */
export class InitializedMark extends DynamicResource<InitializedMarkOutputs> {
  constructor(name: string, args: ResourceArgs<InitializedMarkInputs>, opts?: pulumi.CustomResourceOptions) {
    super("openstack/InitializedMark", name, args, { outputs: ["marked"] }, opts);
  }
}
