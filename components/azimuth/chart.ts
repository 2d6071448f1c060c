import * as pulumi from "@pulumi/pulumi";
import { kubeconfigInput } from "../../lib/pulumi/kubeconfig-input";
import { hasNull, nullPaths } from "../../providers/azimuth/plan/values";
import type { JsonObject } from "../../lib/merge";
import { ClusterGone } from "../../providers/azimuth/resources/declarations";
import { ReleaseRecovery } from "../../providers/helm/resources/release-recovery";
import { warn } from "../../lib/pulumi/log";
import { readStackResources } from "../../lib/pulumi/stack";
import { parseUrn } from "../../lib/pulumi/state";
import { type ChartSource, type ClusterContext, isPath, type TenancyArgs } from "./azimuth-cluster-args";

/** The timeout of a Helm call in seconds, and the number of revisions that it keeps. */
const HELM_SECONDS = 3600;
const REVISIONS = 10;

/* eslint-disable @typescript-eslint/no-require-imports */
/** Parts of the kubernetes package, loaded only by the clusters that use them. */
export const kubernetesPackage = {
  provider: () => require("@pulumi/kubernetes/provider") as typeof import("@pulumi/kubernetes/provider"),
  release: () =>
    require("@pulumi/kubernetes/helm/v3/release") as typeof import("@pulumi/kubernetes/helm/v3/release"),
  chart: () =>
    require("@pulumi/kubernetes/helm/v4/chart") as typeof import("@pulumi/kubernetes/helm/v4/chart"),
};
/* eslint-enable @typescript-eslint/no-require-imports */

/** A provider for the objects of a cluster on its management cluster. */
export function managementProvider(
  name: string,
  { kubeconfig, namespace, cluster }: TenancyArgs & { cluster: string },
  opts: pulumi.CustomResourceOptions,
): pulumi.ProviderResource {
  const { Provider } = kubernetesPackage.provider();
  const clusterIdentifier = `${namespace}/${cluster}`;
  const access = { kubeconfig: kubeconfigInput(kubeconfig), namespace, clusterIdentifier };
  return new Provider(name, { ...access, enableServerSideApply: true }, opts);
}

/**
 * Installs the Helm release that creates the cluster. First it repairs what an interrupted run left; a destroy deletes
 * nothing that the cluster needs before the cluster is gone.
 */
export function installClusterChart(
  { name, namespace, common, args, opts }: ClusterContext,
  values: pulumi.Output<JsonObject>,
  provider: pulumi.ProviderResource,
  after: pulumi.Resource[],
): pulumi.Resource {
  const resource = `${name}-chart`;
  const gone = new ClusterGone(
    `${name}-gone`,
    { ...common, timeoutSeconds: args.timeouts.deletionSeconds },
    { ...opts, dependsOn: after },
  );
  const { kubeconfig, stack } = common;
  const recovery = new ReleaseRecovery(
    `${name}-chart-recovery`,
    // the release of a cluster that is taken over goes with it
    {
      kubeconfig,
      stack,
      namespace,
      release: name,
      isRecorded: isRecorded(resource),
      adopt: args.adopt || args.takeOver !== undefined,
    },
    { ...opts, dependsOn: [gone] },
  );
  const source = args.charts.cluster;
  const { repository, version } = source;
  // with a copy, the repository and the version are left out, since Helm takes the chart from a folder
  const copy = values.apply((known) => copyForNulls(name, source, known));
  const remote = <T>(value: T | undefined): pulumi.Input<T> | undefined =>
    value === undefined
      ? undefined
      : (copy.apply((folder) => (folder === undefined ? value : undefined)) as pulumi.Output<T>);
  return new (kubernetesPackage.release().Release)(
    resource,
    {
      name,
      namespace,
      chart: copy.apply((folder) => folder ?? source.chart),
      version: remote(isPath(source.chart) ? undefined : version),
      repositoryOpts: remote(repository === undefined ? undefined : { repo: repository }),
      values,
      // left out without nulls, so that the preview of an existing release is empty
      allowNullValues: values.apply((known) => hasNull(known) || undefined) as pulumi.Output<boolean>,
      createNamespace: false,
      // machines take long, and their Cluster reports them, not Helm
      skipAwait: true,
      timeout: HELM_SECONDS,
      maxHistory: REVISIONS,
    },
    { parent: opts.parent, provider, dependsOn: [recovery] },
  );
}

/**
 * Returns where a chart is: a copy on this machine if its digest is known.
 *
 * @throws Error when the chart has another digest
 */
export async function verifiedChart(source: ChartSource): Promise<ChartSource> {
  if (source.digest === undefined) return source;
  const { copyChart } = await import("../../providers/helm/client/chart-copy.js");
  return { chart: await copyChart(source) };
}

/** Returns whether the stack's state contains the release's resource at the start of this run. */
async function isRecorded(release: string): Promise<boolean> {
  const recorded = Object.keys(await readStackResources()).map(parseUrn);
  return recorded.some(({ type, name }) => type.endsWith(":Release") && name === release);
}

/**
 * Returns a copy of the chart without the defaults that nulls among the values remove, or undefined without nulls. A
 * chart of an OCI registry is not copied: its defaults stay, and a warning names them.
 */
async function copyForNulls(
  cluster: string,
  source: ChartSource,
  values: JsonObject,
): Promise<string | undefined> {
  const paths = nullPaths(values);
  if (paths.length === 0 && source.digest === undefined) return undefined;
  if (!source.chart.startsWith("oci://")) {
    const { copyChart } = await import("../../providers/helm/client/chart-copy.js");
    return copyChart(source, paths);
  }
  await warn(
    `${cluster}: nulls among the values remove no default of a chart from an OCI registry: ` +
      `${paths.map((keys) => keys.join(".")).join(", ")}; set the chart to a folder with the unpacked chart`,
  );
  return undefined;
}
