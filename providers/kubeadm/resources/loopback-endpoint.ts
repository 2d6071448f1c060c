import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ClusterInputs, Machine } from "./inputs";

export interface LoopbackEndpointInputs extends ClusterInputs {
  /** Every machine of the cluster; each runs the forwarder. */
  machines: Machine[];
  steps?: string[];
}

/**
 * The forwarder on 127.0.0.1 of every node, rewritten when the control planes change. A machine's preparation writes
 * its first configuration, so adding workers changes nothing here.
 */
export class LoopbackEndpoint extends DynamicResource<LoopbackEndpointInputs> {
  constructor(name: string, args: ResourceArgs<LoopbackEndpointInputs>, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/LoopbackEndpoint", name, args, {}, opts);
  }
}
