import * as pulumi from "@pulumi/pulumi";
import { TIMEOUTS } from "../../providers/azimuth/plan/defaults";
import { azimuthRefs } from "../../providers/azimuth/plan/names";
import {
  operatorValues,
  readTunnel,
  type RenderedObject,
  type Tunnel,
  tunnelValues,
  unusableChart,
  type ZenithSettings,
  zenithValues,
} from "../../providers/azimuth/plan/zenith-values";
import { ZenithKeypair } from "../../providers/azimuth/resources/declarations";
import type { OwnerRef } from "../../providers/kubernetes/plan/adoption";
import type { JsonObject } from "../../lib/merge";
import { kubernetesProviderIssues, refuseArguments } from "../../lib/pulumi/arguments";
import { stackName } from "../../lib/pulumi/stack";
import { type ChartSource, chartSource, isPath, type TenancyArgs } from "./azimuth-cluster-args";
import { kubernetesPackage, managementProvider, verifiedChart } from "./chart";
import { partIssues } from "./validation";
import { messageOf } from "../../lib/error-message";

/** Arguments of the parts that connect a cluster to Zenith. */
interface ZenithArgs extends TenancyArgs {
  /** Name of the cluster. */
  cluster: string;
  /** The addresses of Zenith. */
  zenith: ZenithSettings;
  /** The part's Helm chart. @default Azimuth's */
  chart?: ChartSource;
}

export interface ZenithApiServerArgs extends ZenithArgs {
  /** Owner of the Secrets, with its uid. */
  owner: pulumi.Input<OwnerRef>;
  /** Whether the values also expose the Grafana of the cluster's monitoring. @default false */
  monitoring?: boolean;
  /** Whether the values also expose the cluster's Headlamp. @default false */
  dashboard?: boolean | undefined;
  /** How long to retry the registrar, in seconds. @default 120 */
  timeoutSeconds?: number;
}

/**
 * Renders the tunnel to a cluster's API server from its own chart, without installing it; then creates the tunnel's key
 * and reserves its name. A chart that can't be used is refused before a name is reserved.
 */
export function exposeApiServer(
  name: string,
  args: ZenithApiServerArgs,
  provider: pulumi.ProviderResource,
  opts: pulumi.CustomResourceOptions,
) {
  const { namespace, cluster, zenith, owner, monitoring = false, dashboard } = args;
  const kubeconfig = pulumi.secret(args.kubeconfig);
  const tunnel = renderTunnel(kubeconfig, zenith, chartSource("zenithApiServer", args.chart), provider);
  const key = new ZenithKeypair(
    name,
    {
      kubeconfig,
      stack: stackName(),
      namespace,
      cluster,
      owner,
      registrarAdminUrl: zenith.registrarAdminUrl,
      timeoutSeconds: args.timeoutSeconds ?? TIMEOUTS.zenithSeconds,
      files: tunnel.apply(({ keyed }) => keyed),
      chartIssue: tunnel.apply(({ issue }) => issue),
    },
    opts,
  );
  const secret = azimuthRefs(args).zenithFiles.name;
  const values = pulumi
    .all([key.fqdn, tunnel])
    .apply(([fqdn, rendered]) => zenithValues({ fqdn, secret }, rendered, { monitoring, dashboard }));
  return { key, values };
}

/**
 * Exposes a cluster's API server through Zenith: its key, and the name that Zenith reserved for it. The tunnel itself
 * runs on the cluster's control planes, from `values`.
 */
export class ZenithApiServer extends pulumi.ComponentResource {
  /** Host name of the API server. */
  readonly fqdn: pulumi.Output<string>;
  /** Values for the chart `openstack-cluster`. */
  readonly values: pulumi.Output<JsonObject>;

  constructor(name: string, args: ZenithApiServerArgs, opts?: pulumi.ComponentResourceOptions) {
    refuseArguments(`ZenithApiServer ${name}`, [
      ...partIssues(args, ["zenithApiServer", args.chart]),
      ...kubernetesProviderIssues(opts),
    ]);
    super("foresail:azimuth:ZenithApiServer", name, {}, opts);
    const provider = managementProvider(`${name}-management`, args, { parent: this });
    const { key, values } = exposeApiServer(name, args, provider, { parent: this });
    this.fqdn = key.fqdn;
    this.values = values;
    this.registerOutputs({ fqdn: this.fqdn, values });
  }
}

/**
 * Renders the tunnel. A chart that can't be rendered or used sets `issue` instead of throwing, because the engine would
 * wait forever for resources with failed inputs.
 */
function renderTunnel(
  kubeconfig: pulumi.Output<string>,
  { sshdHost: host, sshdPort: port, apiserverDefaults }: ZenithSettings,
  source: ChartSource,
  provider: pulumi.ProviderResource,
): pulumi.Output<Tunnel> {
  // rendering waits for the kubeconfig, and the result does not contain it
  return pulumi.unsecret(kubeconfig).apply(async () => {
    try {
      const { chart, repository, version } = await verifiedChart(source);
      const jsonOpts = JSON.stringify({
        ...(isPath(chart) ? { path: chart } : { chart }),
        ...(repository === undefined ? {} : { fetch_opts: { repo: repository } }),
        ...(version === undefined || isPath(chart) ? {} : { version }),
        release_name: "zenith-apiserver",
        namespace: "kube-system",
        values: tunnelValues({ host, port }, apiserverDefaults),
      });
      const rendered = (await pulumi.runtime.invoke(
        "kubernetes:helm:template",
        { jsonOpts },
        { provider },
      )) as { result?: RenderedObject[] };
      return readTunnel(rendered.result ?? []);
    } catch (error) {
      const words = messageOf(error);
      return { manifest: "", files: {}, keyed: [], issue: unusableChart(`can't be rendered (${words})`) };
    }
  });
}

export interface ZenithOperatorArgs extends ZenithArgs {
  /** Id of the OpenStack project whose users may see the cluster's services. */
  projectId: string;
  /** Owner of the operator's objects. @default none */
  owner?: pulumi.Input<OwnerRef>;
}

/** Installs the operator of a cluster's Zenith clients. */
export function installZenithOperator(
  name: string,
  { namespace, cluster, zenith, projectId, owner, chart: source }: ZenithOperatorArgs,
  opts: pulumi.ComponentResourceOptions,
): pulumi.Resource {
  const { Chart } = kubernetesPackage.chart();
  return new Chart(
    name,
    {
      name: cluster,
      namespace,
      ...chartLocation(chartSource("zenithOperator", source)),
      values: operatorValues(cluster, zenith, projectId),
      // it waits for the cluster's kubeconfig, which exists only after the control plane
      skipAwait: true,
    },
    { ...opts, ...(owner === undefined ? {} : { transforms: [(resource) => withOwner(resource, owner)] }) },
  );
}

/** Returns where Helm finds a chart. */
function chartLocation(source: ChartSource) {
  const { chart, repository, version, digest } = source;
  if (digest !== undefined) return { chart: verifiedChart(source).then((copy) => copy.chart) };
  return {
    chart,
    ...(version === undefined || isPath(chart) ? {} : { version }),
    ...(repository === undefined ? {} : { repositoryOpts: { repo: repository } }),
  };
}

function withOwner(
  { props, opts }: pulumi.ResourceTransformArgs,
  owner: pulumi.Input<OwnerRef>,
): pulumi.ResourceTransformResult | undefined {
  const { metadata } = props as { metadata?: Record<string, unknown> };
  // the chart itself stays unchanged, because otherwise its objects would lose their provider
  if (metadata === undefined) return undefined;
  return { props: { ...props, metadata: { ...metadata, ownerReferences: [owner] } }, opts };
}

/** The operator that connects a cluster's services to Zenith. It runs on the management cluster. */
export class ZenithOperator extends pulumi.ComponentResource {
  constructor(name: string, args: ZenithOperatorArgs, opts?: pulumi.ComponentResourceOptions) {
    refuseArguments(`ZenithOperator ${name}`, [
      ...partIssues(args, ["zenithOperator", args.chart]),
      ...kubernetesProviderIssues(opts),
    ]);
    super("foresail:azimuth:ZenithOperator", name, {}, opts);
    const provider = managementProvider(`${name}-management`, args, { parent: this });
    installZenithOperator(name, args, { parent: this, provider });
    this.registerOutputs({});
  }
}
