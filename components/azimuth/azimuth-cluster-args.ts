import type * as pulumi from "@pulumi/pulumi";
import type { ClusterSpecification } from "../../providers/azimuth/plan/cluster";
import type { PolicyRule } from "../../providers/azimuth/plan/role-bindings";
import type { JsonObject } from "../../lib/merge";
import type { ZenithSettings } from "../../providers/azimuth/plan/zenith-values";

/** A Helm chart: a name with the repository that has it, a path, or an oci:// reference. */
export interface ChartSource {
  chart: string;
  repository?: string;
  version?: string;
}

export interface IdentityArgs {
  /** Existing ClusterRole that the users get. */
  defaultClusterRole?: string;
  /** ClusterRole that is created for the users, in place of an existing one. */
  defaultUserClusterRole?: { name: string; rules: readonly PolicyRule[] };
}

export interface AzimuthClusterArgs {
  /** Of the management cluster. */
  kubeconfig: pulumi.Input<string>;
  /** Namespace of the tenancy on the management cluster. */
  namespace: string;
  /** The cluster that is wished for; its `leaseName` and `zenithIdentityRealmName` say what it takes part in. */
  cluster: ClusterSpecification;
  /** How users log in; null for a cluster without OpenID Connect. */
  identity: IdentityArgs | null;
  /** Reach the API server and the services through Zenith; when absent, the cluster has a load balancer. */
  zenith?: ZenithSettings & { projectId: string };
  charts: { cluster: ChartSource; zenithOperator: ChartSource; zenithApiServer: ChartSource };
  /** Helm values below those of the template. */
  values: JsonObject;
  /** Pattern of a flavour → Helm values for node groups of it. */
  nodeGroupOverrides: Record<string, JsonObject>;
  /** Keep an Azimuth Cluster, paused, and not a ConfigMap. */
  record: boolean;
  /** Take over what others made for this cluster. */
  adopt: boolean;
  /** In seconds. */
  timeouts: { identity: number; lease: number; zenith: number; deletion: number };
  /** Whether the stack's state has the Helm release as this run begins. */
  isReleaseRecorded: boolean;
}

/** What each part of a cluster is made with. */
export interface ClusterContext {
  name: string;
  namespace: string;
  kubeconfig: pulumi.Output<string>;
  args: AzimuthClusterArgs;
  opts: pulumi.CustomResourceOptions & { parent: pulumi.Resource };
}
