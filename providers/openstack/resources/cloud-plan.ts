import type * as pulumi from "@pulumi/pulumi";
import type { UnmetRequirement } from "../plan/unmet-requirement";
import type { DesiredCloud } from "../plan/requirements";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

/** Everything is plain: a preview knows it all. */
export interface CloudPlanArgs extends DesiredCloud {
  cluster: string;
  /** Entry of clouds.yaml; OS_CLOUD or the OS_… variables when absent. */
  cloud?: string;
  region?: string;
  /** Why this run can't be, whatever the cloud has. */
  refusals?: UnmetRequirement[];
  /** What this run does to the machines. */
  steps: string[];
  /** Machines whose servers this run makes. */
  arriving: string[];
  /** Machines whose servers this run deletes. */
  leaving: string[];
  /** What the next runs do. */
  later: string[];
  /** What the cluster's objects carry in the cloud; absent in a stack's first run, which makes it up. */
  mark?: string;
  /** Ids of the objects that the state has. */
  known: string[];
  /** Whether the stack makes an application credential for the cluster. @default false */
  ownCredential?: boolean;
  /** Names of the cluster's security groups. */
  securityGroups: string[];
}

/** What the names of the configuration mean in a cloud. */
export interface FoundInCloud {
  /** Name or id as it was written → id. */
  images: Record<string, string>;
  flavors: Record<string, string>;
  externalNetworkId?: string;
  authUrl: string;
  /** Absent where neither the configuration nor clouds.yaml names one. */
  region?: string;
}

/**
 * What a run needs of the cloud and does to its servers, checked before anything is made. The ids that names mean are
 * known in every preview that reached the cloud. It deletes what a run that was cut off made and did not record, so
 * everything else of the cluster depends on it.
 */
export class CloudPlan extends DynamicResource {
  declare readonly found: pulumi.Output<FoundInCloud>;

  /** Tells this stack's objects from those of any other cluster with the same name. */
  declare readonly mark: pulumi.Output<string>;

  constructor(name: string, args: CloudPlanArgs, opts?: pulumi.CustomResourceOptions) {
    super("openstack/CloudPlan", name, { ...args }, ["found", "mark"], opts);
  }
}
