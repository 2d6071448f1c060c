import * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ServerInputs } from "./server";

export interface TumblebugLoadBalancerInputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  /** VM group of the control planes. */
  group: string;
  /** Port of the listener. */
  port: number;
  /** Port of the control planes. */
  targetPort: number;
  /** Names of its machines. */
  machines: string[];
  /** Machine → name of its VM. */
  vms: Record<string, string>;
  /** Recorded address or "", so that the address is known in a preview that changes the load balancer. */
  recorded: string;
  /** Deadline for the load balancer to get an address, in seconds. */
  timeoutSeconds: number;
  steps?: string[];
}

export interface TumblebugLoadBalancerOutputs extends TumblebugLoadBalancerInputs {
  /** IP address or DNS name. */
  address: string;
}

/** A cloud load balancer for the control planes: the cluster's endpoint. */
export class TumblebugLoadBalancer extends DynamicResource<TumblebugLoadBalancerOutputs> {
  declare readonly address: pulumi.Output<string>;
  declare readonly recorded: pulumi.Output<string>;

  constructor(
    name: string,
    args: ResourceArgs<TumblebugLoadBalancerInputs>,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super("tumblebug/TumblebugLoadBalancer", name, args, { outputs: ["address"], secrets: ["server"] }, opts);
  }

  /** Address of the load balancer: the recorded one, or else the one of the new load balancer. */
  get endpoint(): pulumi.Output<string> {
    return this.recorded.apply((recorded) => (recorded === "" ? this.address : pulumi.output(recorded)));
  }
}
