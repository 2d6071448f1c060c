import { type JsonObject, mergeObjects } from "../../lib/merge";
import type { ClusterSettings, NetworkPlugin, PluginSettings } from "../kubeadm/kubeadm-cluster-args";

/**
 * Adapts the pod network to Tumblebug's VMs. Their security groups support TCP, UDP and ICMP only, so Calico uses
 * VXLAN. Over the Internet, nodes reach each other by their node IPs, and Cilium encrypts pod traffic.
 */
export function fitNetwork(
  { plugin, podSubnet, ...network }: ClusterSettings["network"],
  nodeAddresses: "private" | "public",
) {
  const overInternet = nodeAddresses === "public";
  return {
    ...network,
    podSubnet,
    plugin: fitPlugin(plugin, podSubnet as string, overInternet),
    ...(overInternet ? { holdNodeAddress: true } : {}),
  };
}

function fitPlugin(plugin: PluginSettings, podCidr: string, overInternet: boolean): NetworkPlugin {
  if (plugin.calico) {
    const calicoNetwork = {
      bgp: "Disabled",
      ipPools: [{ cidr: podCidr, encapsulation: "VXLAN" }],
      ...(overInternet ? { nodeAddressAutodetectionV4: { kubernetes: "NodeInternalIP" } } : {}),
    };
    return { calico: withValues(plugin.calico, { installation: { calicoNetwork } }) };
  }
  if (plugin.cilium && overInternet)
    return { cilium: withValues(plugin.cilium, { encryption: { enabled: true, type: "wireguard" } }) };
  return plugin;
}

function withValues<Chart extends { values: object }>(chart: Chart, values: JsonObject): Chart {
  return { ...chart, values: mergeObjects(values, chart.values as JsonObject) };
}
