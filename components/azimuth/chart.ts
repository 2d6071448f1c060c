import * as pulumi from "@pulumi/pulumi";
import { hasNull, nullPaths } from "../../providers/azimuth/plan/values";
import type { JsonObject } from "../../lib/merge";
import { ClusterGone } from "../../providers/azimuth/resources/cluster-gone";
import { ReleaseRecovery } from "../../providers/helm/resources/release-recovery";
import type { ClusterContext } from "./azimuth-cluster-args";

/** Returns the name of the Helm release's resource, for looking it up in the state. */
export const releaseResource = (cluster: string): string => `${cluster}-chart`;

/** The timeout of a Helm call in seconds, and the number of revisions that it keeps. */
const HELM_SECONDS = 3600;
const REVISIONS = 10;

/**
 * Installs the Helm release that creates the cluster. First it repairs what an interrupted run left; a destroy deletes
 * nothing that the cluster needs before the cluster is gone.
 */
export function installClusterChart(
  { name, namespace, kubeconfig, args, opts }: ClusterContext,
  values: pulumi.Output<JsonObject>,
  provider: pulumi.ProviderResource,
  after: pulumi.Resource[],
): pulumi.Resource {
  /* eslint-disable @typescript-eslint/no-require-imports */
  const { Release } =
    require("@pulumi/kubernetes/helm/v3/release") as typeof import("@pulumi/kubernetes/helm/v3/release");
  /* eslint-enable @typescript-eslint/no-require-imports */
  const gone = new ClusterGone(
    `${name}-gone`,
    { kubeconfig, namespace, cluster: name, timeoutSeconds: args.timeouts.deletion },
    { ...opts, dependsOn: after },
  );
  const recovery = new ReleaseRecovery(
    `${name}-chart-recovery`,
    { kubeconfig, namespace, release: name, isRecorded: args.isReleaseRecorded, adopt: args.adopt },
    { ...opts, dependsOn: [gone] },
  );
  values.apply((known) => warnOfNulls(name, known));
  const { chart, repository, version } = args.charts.cluster;
  const isPath = /^\.{0,2}\//.test(chart);
  return new Release(
    releaseResource(name),
    {
      name,
      namespace,
      chart,
      ...(version === undefined || isPath ? {} : { version }),
      ...(repository === undefined ? {} : { repositoryOpts: { repo: repository } }),
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
 * Warns because the plugin drops nulls in objects before they reach Helm, with any option
 * (pulumi/pulumi-kubernetes#3811).
 */
function warnOfNulls(name: string, values: JsonObject): void {
  const paths = nullPaths(values);
  if (paths.length === 0) return;
  void pulumi.log.warn(
    `${name}: the kubernetes plugin drops these nulls, so the chart's defaults stay: ${paths.join(", ")}; ` +
      "write an empty value where the chart takes one, or use a chart without that default",
  );
}
