import type * as pulumi from "@pulumi/pulumi";
import type { Generation } from "../plan/model";
import type { ConnectionFacts, UnmetRequirement, DesiredTumblebug } from "../plan/requirements";
import { type DeepInput, DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import type { ServerInputs } from "./server";

/** Kinds of objects that VMs are created from. */
export const OBJECT_KINDS = ["vNets", "securityGroups", "sshKeys", "images", "specs"] as const;

export interface TumblebugPlanInputs extends DesiredTumblebug {
  server: ServerInputs;
  /** Names of the objects that the stack needs, by kind; of images: {name, connection, cloudImage}. */
  objects: Record<(typeof OBJECT_KINDS)[number], ObjectName[]>;
  /** Removals of surplus control planes in this run, one line each. */
  steps: string[];
  /** Control planes that this run removes. */
  leaving: string[];
  /** Changes of the remaining runs, one line each. */
  later: string[];
  /** Changes in the configuration of existing machines that apply to new machines only. */
  remarks: string[];
  /** Unmet requirements that are known without the server. */
  refusals?: UnmetRequirement[];
  /** Owner tag of the cluster's objects; absent in a stack's first run, which generates it. */
  mark?: string;
  /** Set by check. */
  found?: FoundOnServer;
  /** Set by check: the machines of each cloud, region and zone. */
  spread?: string[];
}

export interface TumblebugPlanOutputs extends TumblebugPlanInputs {
  mark: string;
}

/** Plain values, except for the server's credentials, so that a preview knows all of them. */
type TumblebugPlanArgs = Omit<TumblebugPlanInputs, "server" | "found" | "spread"> & {
  server: DeepInput<ServerInputs>;
};

export interface ObjectName {
  name: string;
  connection: string;
  /** Images only: the name in the cloud, which some servers use as well. */
  cloudImage?: string;
}

/** What TumblebugPlan found on the server. */
export interface FoundOnServer {
  generation: Generation;
  /** Connection → its cloud, region and zone. */
  connections: Record<string, ConnectionFacts>;
  /** Existing objects of other owners: "vNets/<name>". */
  foreign: string[];
  /** Whether the namespace exists and was created by others. */
  namespaceIsForeign: boolean;
}

/**
 * The preflight of a run on the server, checked before any change, so that the preview reports unmet requirements with
 * their configuration property. All other resources of the cluster depend on it.
 */
export class TumblebugPlan extends DynamicResource<TumblebugPlanOutputs> {
  /** Known in every preview that reaches the server. */
  declare readonly found: pulumi.Output<FoundOnServer>;
  /** Owner tag in the descriptions of this stack's objects. */
  declare readonly mark: pulumi.Output<string>;

  constructor(name: string, args: TumblebugPlanArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      "tumblebug/TumblebugPlan",
      name,
      args,
      { outputs: ["found", "mark", "spread"], secrets: ["server"] },
      opts,
    );
  }
}
