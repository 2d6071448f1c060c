import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../dynamic-resource";
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
  /** Machines behind it, by name: they can't change while it is there. */
  machines: string[];
  /** How long it may need for its address. */
  timeoutSeconds: number;
}

/** A load balancer of the cloud in front of the control planes: the cluster's endpoint. */
export class TumblebugLoadBalancer extends DynamicResource {
  /** IP address or DNS name. */
  declare readonly address: pulumi.Output<string>;

  constructor(name: string, args: TumblebugLoadBalancerArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugLoadBalancer", name, { ...args }, ["address"], withSecrets(opts));
  }
}
