import { mergeObjects } from "../../lib/merge";
import type { JsonObject } from "../../lib/merge";
import type { CheckedArgs, NetworkPlugin } from "../kubeadm/kubeadm-cluster-args";

type Network = Pick<CheckedArgs["network"], "plugin" | "podSubnet">;

/**
 * Adapts the pod network to Tumblebug's VMs. Their security groups support TCP, UDP and ICMP only, so Calico uses
 * VXLAN. Over the Internet, nodes reach each other by their node IPs, and Cilium encrypts pod traffic.
 */
export function fitNetwork<Args extends { network: Network }>(
  cluster: Args,
  nodeAddresses: "private" | "public",
): Args {
  const { network } = cluster;
  const overInternet = nodeAddresses === "public";
  return {
    ...cluster,
    network: {
      ...network,
      plugin: fitPlugin(network.plugin, network.podSubnet, overInternet),
      ...(overInternet ? { holdNodeAddress: true } : {}),
    },
  };
}

function fitPlugin(plugin: NetworkPlugin, podCidr: string, overInternet: boolean): NetworkPlugin {
  if ("calico" in plugin) {
    const calicoNetwork = {
      bgp: "Disabled",
      ipPools: [{ cidr: podCidr, encapsulation: "VXLAN" }],
      ...(overInternet ? { nodeAddressAutodetectionV4: { kubernetes: "NodeInternalIP" } } : {}),
    };
    return { calico: withValues(plugin.calico, { installation: { calicoNetwork } }) };
  }
  if ("cilium" in plugin && overInternet)
    return { cilium: withValues(plugin.cilium, { encryption: { enabled: true, type: "wireguard" } }) };
  return plugin;
}

function withValues<Chart extends { values?: JsonObject }>(chart: Chart, values: JsonObject): Chart {
  return { ...chart, values: mergeObjects(values, chart.values ?? {}) };
}
