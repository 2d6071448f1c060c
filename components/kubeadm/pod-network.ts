import type * as pulumi from "@pulumi/pulumi";
import type { ChartArgs, NetworkPlugin } from "./kubeadm-cluster-args";

/** The charts that foresail knows by name, each with its default release. */
const PRESETS = {
  cilium: {
    chart: "cilium",
    repository: "https://helm.cilium.io/",
    version: "1.19.5",
    namespace: "kube-system",
  },
  calico: {
    // from v3.32 on, this chart no longer contains its custom resource definitions
    chart: "tigera-operator",
    repository: "https://docs.tigera.io/calico/charts",
    version: "v3.31.2",
    namespace: "tigera-operator",
  },
  flannel: {
    chart: "flannel",
    repository: "https://flannel-io.github.io/flannel/",
    version: "v0.27.4",
    namespace: "kube-flannel",
  },
} as const;

/** Returns the values that make a preset's chart agree with the cluster's pod network. */
function presetValues(preset: keyof typeof PRESETS, podCidr: string): Record<string, unknown> {
  switch (preset) {
    case "cilium":
      return { ipam: { mode: "kubernetes" } };
    case "calico":
      return { installation: { calicoNetwork: { ipPools: [{ cidr: podCidr }] } } };
    case "flannel":
      return { podCidr };
  }
}

/** Returns the chart of a plugin, or undefined when the plugin uses none. */
function chartOf(plugin: NetworkPlugin, podCidr: string): ChartArgs | undefined {
  if ("chart" in plugin) return plugin.chart;
  for (const preset of ["cilium", "calico", "flannel"] as const) {
    if (!(preset in plugin)) continue;
    const own = (plugin as Record<typeof preset, { version?: string; values?: object }>)[preset];
    return {
      ...PRESETS[preset],
      ...(own.version ? { version: own.version } : {}),
      values: { ...presetValues(preset, podCidr), ...own.values } as ChartArgs["values"],
    };
  }
  return undefined;
}

export interface PodNetworkArgs {
  plugin: NetworkPlugin;
  podCidr: string;
  kubeconfig: pulumi.Output<string>;
}

/**
 * Installs the pod network, unless it is the built-in one, which is part of each machine's preparation. The preview
 * lists every object.
 */
export function installPodNetwork(
  cluster: string,
  args: PodNetworkArgs,
  opts: pulumi.CustomResourceOptions & { parent: pulumi.Resource },
): pulumi.Resource[] {
  const { plugin } = args;
  if ("bridge" in plugin) return [];
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
    const file = "path" in plugin.manifest ? plugin.manifest.path : plugin.manifest.url;
    // its pods become ready only after the remaining nodes have joined
    return [new ConfigFile(`${cluster}-network`, { file, skipAwait: true }, inCluster)];
  }
  const chart = chartOf(plugin, args.podCidr);
  if (!chart) throw new Error("the network plugin is none that foresail knows");
  const { Namespace } =
    require("@pulumi/kubernetes/core/v1/namespace") as typeof import("@pulumi/kubernetes/core/v1/namespace");
  const { Chart } =
    require("@pulumi/kubernetes/helm/v4/chart") as typeof import("@pulumi/kubernetes/helm/v4/chart");
  /* eslint-enable @typescript-eslint/no-require-imports */
  const namespace =
    chart.namespace === "kube-system"
      ? []
      : [
          new Namespace(
            `${cluster}-network`,
            {
              metadata: {
                name: chart.namespace,
                labels: { "pod-security.kubernetes.io/enforce": "privileged" },
              },
            },
            inCluster,
          ),
        ];
  const release = new Chart(
    `${cluster}-network`,
    {
      chart: chart.chart,
      namespace: chart.namespace,
      ...(chart.version ? { version: chart.version } : {}),
      ...(chart.repository ? { repositoryOpts: { repo: chart.repository } } : {}),
      values: chart.values ?? {},
      // its pods become ready only after the remaining nodes have joined
      skipAwait: true,
    },
    { ...inCluster, dependsOn: namespace },
  );
  return [...namespace, release];
}
