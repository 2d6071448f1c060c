import type * as pulumi from "@pulumi/pulumi";
import type { ClusterSpecification } from "../../providers/azimuth/plan/objects";
import type { PolicyRule } from "../../providers/azimuth/plan/cluster-values";
import type { JsonObject } from "../../lib/merge";
import type { ZenithSettings } from "../../providers/azimuth/plan/zenith-values";

/** A Helm chart: a name with its repository, a path, or an oci:// reference. */
export interface ChartSource {
  chart: string;
  repository?: string;
  version?: string;
}

export interface IdentityArgs {
  /** Existing ClusterRole for the users. */
  defaultClusterRole?: string;
  /** ClusterRole to create for the users instead of an existing one. */
  defaultUserClusterRole?: { name: string; rules: readonly PolicyRule[] };
}

export interface AzimuthClusterArgs {
  /** Kubeconfig of the management cluster. */
  kubeconfig: pulumi.Input<string>;
  /** Namespace of the tenancy on the management cluster. */
  namespace: string;
  /** The desired cluster; its `leaseName` and `zenithIdentityRealmName` decide on the lease and the realm. */
  cluster: ClusterSpecification;
  /** How users log in; null for a cluster without OpenID Connect. */
  identity: IdentityArgs | null;
  /** Exposes the API server and the services through Zenith; without it, the cluster has a load balancer. */
  zenith?: ZenithSettings & { projectId: string };
  charts: { cluster: ChartSource; zenithOperator: ChartSource; zenithApiServer: ChartSource };
  /** Helm values with a lower precedence than the template's. */
  values: JsonObject;
  /** Pattern of a flavor → Helm values for its node groups. */
  nodeGroupOverrides: Record<string, JsonObject>;
  /** Whether to keep a paused Azimuth Cluster instead of a ConfigMap. */
  record: boolean;
  /** Whether to adopt existing objects of this cluster. */
  adopt: boolean;
  timeouts: { identitySeconds: number; leaseSeconds: number; zenithSeconds: number; deletionSeconds: number };
  /** Whether the stack's state contains the Helm release at the start of this run. */
  isReleaseRecorded: boolean;
}

/** What the constructors of a cluster's parts share. */
export interface ClusterContext {
  name: string;
  namespace: string;
  kubeconfig: pulumi.Output<string>;
  args: AzimuthClusterArgs;
  opts: pulumi.CustomResourceOptions & { parent: pulumi.Resource };
}
