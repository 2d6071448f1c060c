import * as pulumi from "@pulumi/pulumi";
import type { Owner } from "../../core/objects/adoption";
import {
  operatorValues,
  type RenderedObject,
  tunnelValues,
  zenithValues,
} from "../../core/azimuth/zenith-values";
import { zenithSecretName } from "../../core/azimuth/names";
import type { JsonObject } from "../../core/merge";
import { ZenithKeypair } from "../../providers/azimuth/zenith-keypair";
import type { AzimuthClusterArgs, ChartSource, ClusterContext } from "./azimuth-cluster-args";

type Zenith = NonNullable<AzimuthClusterArgs["zenith"]>;

/** The key of the cluster's API server, and the name that is reserved for it. */
export function reserveName(
  { name, namespace, kubeconfig, args, opts }: ClusterContext,
  { registrarAdminUrl }: Zenith,
  owner: pulumi.Input<Owner>,
  after: pulumi.Resource[],
): ZenithKeypair {
  return new ZenithKeypair(
    `${name}-zenith-key`,
    {
      kubeconfig,
      namespace,
      cluster: name,
      registrarAdminUrl,
      owner,
      timeoutSeconds: args.timeouts.zenith,
    },
    { ...opts, dependsOn: after },
  );
}

/** What the cluster's chart is told of Zenith: the tunnel is rendered from its own chart, and installed by no one else. */
export function tunnelChartValues(
  { name, args }: ClusterContext,
  { sshdHost, sshdPort }: Zenith,
  key: ZenithKeypair,
  provider: pulumi.ProviderResource,
): pulumi.Output<JsonObject> {
  const rendered = renderChart(args.charts.zenithApiServer, {
    release: "zenith-apiserver",
    namespace: "kube-system",
    values: tunnelValues({ host: sshdHost, port: sshdPort }),
    provider,
  });
  const secret = zenithSecretName(name);
  return pulumi
    .all([key.fqdn, rendered])
    .apply(([fqdn, objects]) =>
      zenithValues({ fqdn, secret }, objects, { monitoring: args.cluster.addons.monitoring }),
    );
}

interface RenderArgs {
  release: string;
  namespace: string;
  values: JsonObject;
  provider: pulumi.ProviderResource;
}

/** The objects of a chart, rendered by the kubernetes plugin and installed nowhere. */
async function renderChart(
  { chart, repository, version }: ChartSource,
  { release, namespace, values, provider }: RenderArgs,
): Promise<RenderedObject[]> {
  const isPath = /^\.{0,2}\//.test(chart);
  const jsonOpts = JSON.stringify({
    ...(isPath ? { path: chart } : { chart }),
    ...(repository === undefined ? {} : { fetch_opts: { repo: repository } }),
    ...(version === undefined || isPath ? {} : { version }),
    release_name: release,
    namespace,
    values,
  });
  const answer = (await pulumi.runtime.invoke("kubernetes:helm:template", { jsonOpts }, { provider })) as {
    result?: RenderedObject[];
  };
  return answer.result ?? [];
}

/** The operator that looks after the cluster's Zenith clients, with every object of it owned like the cluster's own. */
export function installZenithOperator(
  { name, namespace, args, opts }: ClusterContext,
  zenith: Zenith,
  owner: pulumi.Output<Owner>,
  provider: pulumi.ProviderResource,
  after: pulumi.Resource[],
): pulumi.Resource {
  // loaded only here: a cluster without Zenith does not pay for it
  /* eslint-disable @typescript-eslint/no-require-imports */
  const { Chart } =
    require("@pulumi/kubernetes/helm/v4/chart") as typeof import("@pulumi/kubernetes/helm/v4/chart");
  /* eslint-enable @typescript-eslint/no-require-imports */
  const { chart, repository, version } = args.charts.zenithOperator;
  const isPath = /^\.{0,2}\//.test(chart);
  return new Chart(
    `${name}-zenith-operator`,
    {
      name,
      namespace,
      chart,
      ...(version === undefined || isPath ? {} : { version }),
      ...(repository === undefined ? {} : { repositoryOpts: { repo: repository } }),
      values: operatorValues(name, zenith, zenith.projectId),
      // it waits for the cluster's kubeconfig, which comes when the control plane is there
      skipAwait: true,
    },
    {
      parent: opts.parent,
      provider,
      dependsOn: after,
      transforms: [(resource) => withOwner(resource, owner)],
    },
  );
}

function withOwner(
  { props, opts }: pulumi.ResourceTransformArgs,
  owner: pulumi.Output<Owner>,
): pulumi.ResourceTransformResult | undefined {
  const { metadata } = props as { metadata?: Record<string, unknown> };
  // the chart itself is left as it is, or its objects would lose their provider
  if (metadata === undefined) return undefined;
  return { props: { ...props, metadata: { ...metadata, ownerReferences: [owner] } }, opts };
}
