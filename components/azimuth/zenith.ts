import * as pulumi from "@pulumi/pulumi";
import type { Owner } from "../../providers/kubernetes/plan/adoption";
import {
  operatorValues,
  readTunnel,
  type RenderedObject,
  type Tunnel,
  tunnelValues,
  unusableChart,
  zenithValues,
} from "../../providers/azimuth/plan/zenith-values";
import { zenithFilesSecretName } from "../../providers/azimuth/plan/names";
import type { JsonObject } from "../../lib/merge";
import { ZenithKeypair } from "../../providers/azimuth/resources/zenith-keypair";
import type { AzimuthClusterArgs, ChartSource, ClusterContext } from "./azimuth-cluster-args";

type Zenith = NonNullable<AzimuthClusterArgs["zenith"]>;

/**
 * Creates the key of the cluster's API server and reserves its name.
 *
 * @param tunnel a chart that can't be used is refused before a name is reserved
 */
export function reserveName(
  { name, namespace, kubeconfig, args, opts }: ClusterContext,
  { registrarAdminUrl }: Zenith,
  tunnel: pulumi.Output<Tunnel>,
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
      timeoutSeconds: args.timeouts.zenithSeconds,
      files: tunnel.apply(({ keyed }) => keyed),
      chartIssue: tunnel.apply(({ issue }) => issue),
    },
    { ...opts, dependsOn: after },
  );
}

/**
 * Renders the tunnel to the API server from its own chart, without installing it. A chart that can't be rendered or
 * used sets `issue` instead of throwing, because the engine would wait forever for resources with failed inputs.
 */
export function renderTunnel(
  { kubeconfig, args }: ClusterContext,
  { sshdHost, sshdPort }: Zenith,
  provider: pulumi.ProviderResource,
): pulumi.Output<Tunnel> {
  // rendering waits for the kubeconfig, and the result does not contain it
  return pulumi.unsecret(kubeconfig).apply(async () => {
    try {
      const objects = await renderChart(args.charts.zenithApiServer, {
        release: "zenith-apiserver",
        namespace: "kube-system",
        values: tunnelValues({ host: sshdHost, port: sshdPort }),
        provider,
      });
      return readTunnel(objects);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      return { manifest: "", files: {}, keyed: [], issue: unusableChart(`can't be rendered (${words})`) };
    }
  });
}

/** Returns the Zenith values of the cluster's chart. */
export function tunnelChartValues(
  { name, args }: ClusterContext,
  key: ZenithKeypair,
  tunnel: pulumi.Output<Tunnel>,
): pulumi.Output<JsonObject> {
  const secret = zenithFilesSecretName(name);
  const { monitoring } = args.cluster.addons;
  return pulumi
    .all([key.fqdn, tunnel])
    .apply(([fqdn, rendered]) => zenithValues({ fqdn, secret }, rendered, { monitoring }));
}

interface RenderArgs {
  release: string;
  namespace: string;
  values: JsonObject;
  provider: pulumi.ProviderResource;
}

/** Returns the objects of a chart, rendered by the kubernetes plugin without installing them. */
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

/** Installs the operator for the cluster's Zenith clients; all its objects have the cluster's owner reference. */
export function installZenithOperator(
  { name, namespace, args, opts }: ClusterContext,
  zenith: Zenith,
  owner: pulumi.Output<Owner>,
  provider: pulumi.ProviderResource,
  after: pulumi.Resource[],
): pulumi.Resource {
  // loaded only here, so that a cluster without Zenith does not load it
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
      // it waits for the cluster's kubeconfig, which exists only after the control plane
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
  // the chart itself stays unchanged, because otherwise its objects would lose their provider
  if (metadata === undefined) return undefined;
  return { props: { ...props, metadata: { ...metadata, ownerReferences: [owner] } }, opts };
}
