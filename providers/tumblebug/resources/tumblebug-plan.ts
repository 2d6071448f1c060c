import type * as pulumi from "@pulumi/pulumi";
import type { Generation } from "../plan/model";
import type { ConnectionFacts, UnmetRequirement, DesiredTumblebug } from "../plan/requirements";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { withSecrets } from "./tumblebug-object";

/** The kinds of objects that VMs are made from. */
export const OBJECT_KINDS = ["vNets", "securityGroups", "sshKeys", "images", "specs"] as const;

/** Everything but the server's credentials is plain: a preview knows it all. */
export interface TumblebugPlanArgs extends DesiredTumblebug {
  server: pulumi.Input<object>;
  /** Names of the objects that the stack needs, by kind; of images: {name, connection, cloudImage}. */
  objects: Record<(typeof OBJECT_KINDS)[number], ObjectName[]>;
  /** What this run does to control planes that are too many. */
  steps: string[];
  /** Control planes that leave in this run. */
  leaving: string[];
  /** What the next runs do. */
  later: string[];
  /** What the configuration says that nothing takes. */
  remarks: string[];
  /** Why this run can't be, whatever the server has. */
  refusals?: UnmetRequirement[];
  /** What the cluster's objects carry; absent in a stack's first run, which makes it up. */
  mark?: string;
}

export interface ObjectName {
  name: string;
  connection: string;
  /** Of images alone: by which the cloud knows it, and some servers then too. */
  cloudImage?: string;
}

/** What a server has of what the stack needs. */
export interface FoundOnServer {
  generation: Generation;
  /** Connection → where it leads. */
  connections: Record<string, ConnectionFacts>;
  /** "vNets/<name>" of objects that others made. */
  foreign: string[];
  /** Whether the namespace was there, made by others. */
  namespaceIsForeign: boolean;
}

/**
 * What a run needs of the server, checked before anything is made: so a preview says what can't work, with the place in
 * the configuration. Everything else of the cluster depends on it.
 */
export class TumblebugPlan extends DynamicResource {
  /** Known in every preview that reached the server. */
  declare readonly found: pulumi.Output<FoundOnServer>;
  /** What this stack's objects carry in their descriptions. */
  declare readonly mark: pulumi.Output<string>;

  constructor(name: string, args: TumblebugPlanArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugPlan", name, { ...args }, ["found", "mark", "spread"], withSecrets(opts));
  }
}
