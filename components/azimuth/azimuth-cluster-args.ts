import * as pulumi from "@pulumi/pulumi";
import type { NamespaceRole, PolicyRule } from "../../providers/azimuth/plan/cluster-values";
import { CHARTS, TIMEOUTS } from "../../providers/azimuth/plan/defaults";
import type { AzimuthSpec } from "../../providers/azimuth/plan/objects";
import type { ZenithSettings } from "../../providers/azimuth/plan/zenith-values";
import type { OwnerRef } from "../../providers/kubernetes/plan/adoption";
import type { JsonObject } from "../../lib/merge";
import { stackName } from "../../lib/pulumi/stack";

/** A Helm chart: a name with its repository, a path, or an oci:// reference. */
export interface ChartSource {
  chart: string;
  /** @default the repository of Azimuth, for a chart of Azimuth */
  repository?: string | undefined;
  version?: string | undefined;
  /** Digest of the chart's archive in its repository, "sha256:…", verified before the chart is used. */
  digest?: string | undefined;
}

/** How a cluster's users log in. */
export interface IdentityArgs {
  /** Existing ClusterRole for the users. */
  defaultClusterRole?: string;
  /** ClusterRole to create for the users instead of an existing one. */
  defaultUserClusterRole?: { name: string; rules: readonly PolicyRule[] };
  /** ClusterRole to create for the users in some namespaces, which have to exist. */
  defaultUserNamespaceRole?: NamespaceRole;
}

/** A tenancy on a management cluster. */
export interface TenancyArgs {
  /** Kubeconfig of the management cluster. */
  kubeconfig: pulumi.Input<string>;
  /** Namespace of the tenancy on the management cluster. */
  namespace: string;
}

/** An object of a tenancy that Azimuth's operators work on. */
export interface TenancyObjectArgs extends TenancyArgs {
  /** Owner of the object, which is deleted with it. @default none */
  owner?: pulumi.Input<OwnerRef>;
  /** Whether to take over an existing object from its owner, if that is not a stack. @default false */
  adopt?: boolean;
  /** Identity of another stack, from which the object is taken over: a refusal names it. `unmarked` for an object that an earlier release marked. @default none */
  takeOver?: string | undefined;
  /** Deadline in seconds. */
  timeoutSeconds?: number;
}

export interface AzimuthClusterArgs extends TenancyArgs {
  /** The desired cluster; its `leaseName` and `zenithIdentityRealmName` decide on the lease and the realm. */
  cluster: AzimuthSpec;
  /** How users log in; null for a cluster without OpenID Connect. @default {}: users have no rights in the cluster */
  identity?: IdentityArgs | null;
  /** Exposes the API server and the services through Zenith; without it, the cluster has a load balancer. */
  zenith?: ZenithSettings & { projectId: string };
  /** @default the charts of Azimuth */
  charts?: { cluster?: ChartSource; zenithOperator?: ChartSource; zenithApiServer?: ChartSource };
  /** Helm values with a lower precedence than the template's. */
  values?: JsonObject;
  /** Pattern of a flavor → Helm values for its node groups. */
  nodeGroupOverrides?: Record<string, JsonObject>;
  /** Whether to keep a paused Azimuth Cluster instead of a ConfigMap. @default true */
  record?: boolean;
  /** Whether to adopt existing objects of this cluster. @default false */
  adopt?: boolean;
  /** Identity of another stack, from which the cluster is taken over: a refusal names it. `unmarked` for objects that an earlier release marked. @default none */
  takeOver?: string | undefined;
  /** Whether to wait until all machines are ready; then there are the outputs `kubeconfig` and `phase`. @default false */
  waitForMachines?: boolean;
  /** @default 600 for each of Realm, OIDCClient and Platform; 3600, 120, 3600 and 3600 */
  timeouts?: {
    identitySeconds?: number;
    leaseSeconds?: number;
    zenithSeconds?: number;
    machinesSeconds?: number;
    deletionSeconds?: number;
  };
}

/** The arguments of a cluster, complete. */
type CompleteArgs = Required<
  Omit<AzimuthClusterArgs, "zenith" | "kubeconfig" | "charts" | "takeOver" | "timeouts">
> & {
  zenith?: NonNullable<AzimuthClusterArgs["zenith"]>;
  charts: Record<keyof typeof CHARTS, ChartSource>;
  takeOver?: string | undefined;
  timeouts: Record<keyof typeof TIMEOUTS, number>;
};

/** What the constructors of a cluster's parts share. */
export interface ClusterContext {
  name: string;
  namespace: string;
  kubeconfig: pulumi.Output<string>;
  args: CompleteArgs;
  /** Arguments of every resource of the cluster. */
  common: { kubeconfig: pulumi.Output<string>; stack: string; namespace: string; cluster: string };
  opts: pulumi.CustomResourceOptions & { parent: pulumi.Resource };
}

/** Returns the context of a cluster's parts, with a default for each argument that is absent. */
export function contextOf(name: string, args: AzimuthClusterArgs, parent: pulumi.Resource): ClusterContext {
  const { namespace, charts = {} } = args;
  const kubeconfig = pulumi.secret(args.kubeconfig);
  return {
    name,
    namespace,
    kubeconfig,
    common: { kubeconfig, stack: stackName(), namespace, cluster: name },
    args: {
      ...args,
      identity: args.identity === undefined ? {} : args.identity,
      charts: {
        cluster: chartSource("cluster", charts.cluster),
        zenithOperator: chartSource("zenithOperator", charts.zenithOperator),
        zenithApiServer: chartSource("zenithApiServer", charts.zenithApiServer),
      },
      values: args.values ?? {},
      nodeGroupOverrides: args.nodeGroupOverrides ?? {},
      record: args.record ?? true,
      adopt: args.adopt ?? false,
      waitForMachines: args.waitForMachines ?? false,
      timeouts: { ...TIMEOUTS, ...args.timeouts },
    },
    opts: { parent },
  };
}

/** Returns a chart with its version, repository and digest: the repository of Azimuth for a chart of Azimuth. */
export function chartSource(kind: keyof typeof CHARTS, source: ChartSource = CHARTS[kind]): ChartSource {
  const { chart, version, digest } = source;
  const known = Object.values(CHARTS).find((each) => each.chart === chart);
  const repository = source.repository ?? known?.repository;
  // in this order, and without an absent digest, because a hash of it is in the state
  return { chart, version, repository, ...(digest === undefined ? {} : { digest }) };
}

/** Returns whether a chart is a folder or an archive of this machine. */
export const isPath = (chart: string): boolean => /^\.{0,2}\//.test(chart);
