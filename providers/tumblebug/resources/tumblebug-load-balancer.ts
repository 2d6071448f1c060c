import * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { withSecrets } from "./tumblebug-object";

export interface TumblebugLoadBalancerArgs {
  server: pulumi.Input<object>;
  namespace: string;
  infrastructure: string;
  /** VM group of the control planes. */
  group: string;
  /** Where it listens. */
  port: number;
  /** Of the control planes. */
  targetPort: number;
  /** Machines behind it, by name. */
  machines: string[];
  /** Machine → name of its VM. */
  vms: pulumi.Input<Record<string, string>>;
  /** The address that the state has of it, or "": a preview that changes it knows where it is. */
  recorded: string;
  /** How long it may need for its address. */
  timeoutSeconds: number;
}

/** A load balancer of the cloud in front of the control planes: the cluster's endpoint. */
export class TumblebugLoadBalancer extends DynamicResource {
  /** IP address or DNS name. */
  declare readonly address: pulumi.Output<string>;
  declare readonly recorded: pulumi.Output<string>;

  constructor(name: string, args: TumblebugLoadBalancerArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugLoadBalancer", name, { ...args }, ["address", "recorded"], withSecrets(opts));
  }

  /** Where the control planes are reached, as soon as the load balancer follows them. */
  get endpoint(): pulumi.Output<string> {
    return this.recorded.apply((recorded) => (recorded === "" ? this.address : pulumi.output(recorded)));
  }
}
