import type * as pulumi from "@pulumi/pulumi";
import { mergeReplacing, type JsonObject } from "../../lib/merge";
import type { ChartArgs, ChartValues, NetworkPlugin } from "./kubeadm-cluster-args";

/**
 * A chart that foresail knows by name: its default release, and the values that fit it to the pod network. A digest is
 * of the archive in the chart's repository; the repositories of the others were not at hand (docs/security.md).
 */
interface Preset extends ChartArgs {
  valuesFor: (podCidr: string) => JsonObject;
}

const PRESETS: Readonly<Record<"cilium" | "calico" | "flannel", Preset>> = {
  cilium: {
    chart: "cilium",
    repository: "https://helm.cilium.io/",
    version: "1.19.5",
    digest: "sha256:56b60445a2c650b387ce2edb13cfd8d83219a9da693b0523915dba8be451a29e",
    namespace: "kube-system",
    valuesFor: () => ({ ipam: { mode: "kubernetes" } }),
  },
  calico: {
    // from v3.32 on, this chart no longer contains its custom resource definitions
    chart: "tigera-operator",
    repository: "https://docs.tigera.io/calico/charts",
    version: "v3.31.2",
    namespace: "tigera-operator",
    valuesFor: (cidr) => ({ installation: { calicoNetwork: { ipPools: [{ cidr }] } } }),
  },
  flannel: {
    chart: "flannel",
    repository: "https://flannel-io.github.io/flannel/",
    version: "v0.27.4",
    namespace: "kube-flannel",
    valuesFor: (podCidr) => ({ podCidr }),
  },
};

/** Returns the chart of a plugin, or undefined when the plugin uses none. */
export function chartOf(plugin: NetworkPlugin, podCidr: string): ChartArgs | undefined {
  if ("chart" in plugin) return plugin.chart;
  for (const [name, { valuesFor, ...preset }] of Object.entries(PRESETS)) {
    const own = (plugin as Record<string, ChartValues | undefined>)[name];
    if (own === undefined) continue;
    const version = own.version || preset.version;
    const digest = own.digest ?? (version === preset.version ? preset.digest : undefined);
    return { ...preset, version, digest, values: mergeReplacing(valuesFor(podCidr), own.values) };
  }
  return undefined;
}

/** Returns the chart's own name, without its place and version: "cilium" of "oci://r.example.com/charts/cilium". */
const ownName = (chart: string) =>
  chart
    .replace(/\/+$/, "")
    .replace(/^.*[/:]/, "")
    .replace(/\.tgz$/, "")
    .replace(/-v?\d+(\.\d+)+\S*$/, "");

/**
 * Returns the name by which one plugin is told from another: pods that run lose their network with another one. A chart
 * that foresail knows has that plugin's name, wherever it comes from.
 */
export function pluginName(plugin: NetworkPlugin): string {
  const [kind = ""] = Object.keys(plugin);
  if (!("chart" in plugin)) return kind;
  const name = ownName(plugin.chart.chart);
  return Object.entries(PRESETS).find(([, { chart }]) => chart === name)?.[0] ?? name;
}

/** Returns where Helm finds a chart: in a verified copy if its digest is known. */
function chartSource(source: ChartArgs) {
  const { chart, version, repository, digest } = source;
  if (digest !== undefined)
    return { chart: import("../../providers/helm/client/chart-copy.js").then((it) => it.copyChart(source)) };
  return {
    chart,
    ...(version ? { version } : {}),
    ...(repository ? { repositoryOpts: { repo: repository } } : {}),
  };
}

/** Returns the file or URL of manifests: a verified copy if their digest is known. */
function manifestFile(manifest: { path: string } | { url: string; digest?: string }): pulumi.Input<string> {
  if ("path" in manifest) return manifest.path;
  const { url, digest } = manifest;
  if (digest === undefined) return url;
  return import("../../providers/helm/client/chart-copy.js").then((it) => it.copyManifest(url, digest));
}

/** Installs the pod network, except the built-in one, which is part of each machine's preparation. */
export function installPodNetwork(
  cluster: string,
  args: { plugin: NetworkPlugin; podCidr: string; kubeconfig: pulumi.Output<string> },
  opts: pulumi.CustomResourceOptions & { parent: pulumi.Resource },
): pulumi.Resource[] {
  const { plugin } = args;
  if ("bridge" in plugin || "none" in plugin) return [];
  // loaded only here, so that a cluster with the built-in network does not load the Kubernetes SDK
  /* eslint-disable @typescript-eslint/no-require-imports */
  const { Provider } = require("@pulumi/kubernetes/provider") as typeof import("@pulumi/kubernetes/provider");
  const provider = new Provider(
    `${cluster}-network`,
    { kubeconfig: args.kubeconfig, clusterIdentifier: cluster, enableServerSideApply: true },
    opts,
  );
  const inCluster = { ...opts, provider };
  if ("manifest" in plugin) {
    const { ConfigFile } =
      require("@pulumi/kubernetes/yaml/v2/configFile") as typeof import("@pulumi/kubernetes/yaml/v2/configFile");
    const file = manifestFile(plugin.manifest);
    // its pods become ready only after the remaining nodes have joined
    return [new ConfigFile(`${cluster}-network`, { file, skipAwait: true }, inCluster)];
  }
  const chart = chartOf(plugin, args.podCidr);
  if (!chart) throw new Error("foresail does not know this network plugin");
  const { Namespace } =
    require("@pulumi/kubernetes/core/v1/namespace") as typeof import("@pulumi/kubernetes/core/v1/namespace");
  const { Chart } =
    require("@pulumi/kubernetes/helm/v4/chart") as typeof import("@pulumi/kubernetes/helm/v4/chart");
  /* eslint-enable @typescript-eslint/no-require-imports */
  const labels = { "pod-security.kubernetes.io/enforce": "privileged" };
  const metadata = { name: chart.namespace, labels };
  const namespace =
    chart.namespace === "kube-system" ? [] : [new Namespace(`${cluster}-network`, { metadata }, inCluster)];
  const release = new Chart(
    `${cluster}-network`,
    {
      ...chartSource(chart),
      namespace: chart.namespace,
      values: chart.values ?? {},
      // its pods become ready only after the remaining nodes have joined
      skipAwait: true,
    },
    { ...inCluster, dependsOn: namespace },
  );
  return [...namespace, release];
}
