import { isObject } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { cidrContains, cidrIssue, parseCidr } from "../../../../lib/validation/addresses";
import {
  below,
  type ConfigurationPath,
  issueAt,
  type ValidationIssue,
  valueAt,
} from "../../../../lib/validation/validation-issue";
import { hasKubeProxy } from "../configuration/configuration";
import { networkOf } from "../cluster/defaults";
import type { ClusterSpecification } from "../cluster/specification";

/** Prefix of each node's block, a /24 of the pod block (the default of kube-controller-manager). */
export const NODE_PREFIX = 24;

interface NetworkSettings {
  network?: { podSubnet?: string; serviceSubnet?: string; dnsDomain?: string; plugin?: object };
  kubeadm?: { clusterConfiguration?: unknown; initConfiguration?: unknown };
}

/** Returns an issue when values for Cilium's chart remove the mode of `ipam`, so that pods lose the cluster's blocks. */
export function ciliumValuesIssues(values: Readonly<Record<string, unknown>>): ValidationIssue[] {
  const { ipam = {} } = values;
  const mode = isObject(ipam) ? (ipam["mode"] ?? "kubernetes") : undefined;
  if (typeof mode === "string" && mode !== "") return [];
  const message =
    "removes the mode that foresail sets, so that pods would get addresses outside of network.podSubnet; write a map with mode: kubernetes, or remove it";
  return issueAt(["ipam"], message);
}

/** Returns an issue for a block of a plugin that is not in the pod block: kube-proxy and nodes expect pods there. */
function blockIssues(block: unknown, podSubnet: string, path: ConfigurationPath): ValidationIssue[] {
  const pods = parseCidr(podSubnet);
  // the pod block has its own rule
  if (pods === undefined) return [];
  const fix = `write ${podSubnet}, which is network.podSubnet, or a block of it`;
  if (typeof block !== "string") return issueAt(path, `is missing; ${fix}`);
  const wrong = cidrIssue(block);
  const own = parseCidr(block);
  if (wrong !== undefined || own === undefined) return issueAt(path, wrong ?? `is not a block; ${fix}`);
  const isInside = own.prefix >= pods.prefix && cidrContains(pods, own.first);
  return issueAt(path, isInside ? undefined : `${quoted(block)} is not in the block of the pods; ${fix}`);
}

/** Addresses of one block each, within a pool of the plugin. @param least the smallest prefix that the plugin takes */
function sizeIssues(size: unknown, block: unknown, path: ConfigurationPath, least = 0): ValidationIssue[] {
  if (size === undefined || typeof block !== "string") return [];
  const pool = parseCidr(block);
  if (pool === undefined) return [];
  const first = Math.max(pool.prefix, least);
  const fits = typeof size === "number" && Number.isInteger(size) && size >= first && size <= 32;
  return issueAt(
    path,
    fits ? undefined : `must be the prefix of blocks in ${quoted(block)}; write a number from ${first} to 32`,
  );
}

function flannelIssues(values: object, podSubnet: string): ValidationIssue[] {
  const { podCidr = podSubnet } = values as { podCidr?: unknown };
  return issueAt(
    ["podCidr"],
    podCidr === podSubnet
      ? undefined
      : `${quoted(typeof podCidr === "string" ? podCidr : JSON.stringify(podCidr))} is not network.podSubnet ${quoted(podSubnet)}; remove it, foresail writes it`,
  );
}

/** Returns whether the blocks of two pools overlap; false for unreadable ones. */
function overlaps(...pools: [unknown, unknown]): boolean {
  const [one, other] = pools.map((pool) => {
    const { cidr } = isObject(pool) ? pool : {};
    return typeof cidr === "string" ? parseCidr(cidr) : undefined;
  });
  return (
    one !== undefined &&
    other !== undefined &&
    (cidrContains(one, other.first) || cidrContains(other, one.first))
  );
}

/** The largest block of Calico. */
const CALICO_BLOCK = 20;

function calicoIssues(values: object, podSubnet: string): ValidationIssue[] {
  const path = ["installation", "calicoNetwork", "ipPools"];
  if (valueAt(values, ["installation", "enabled"]) === false)
    return issueAt(["installation", "enabled"], "is false, so that pods would get no network; remove it");
  const pools = valueAt(values, path);
  if (pools === undefined) return [];
  if (!Array.isArray(pools)) return issueAt(path, "is not a list; write a list of pools, each with its cidr");
  if (pools.length === 0)
    return issueAt(
      path,
      `is empty, so that pods would get no address; remove it, foresail writes ${podSubnet}`,
    );
  const overlap = pools.findIndex((pool, index) =>
    pools.slice(0, index).some((other) => overlaps(pool, other)),
  );
  if (overlap > 0)
    return issueAt(
      [...path, overlap, "cidr"],
      "overlaps another pool, which Calico refuses; write blocks apart from each other",
    );
  return pools.flatMap((pool: unknown, index) => {
    const { cidr, blockSize } = isObject(pool) ? pool : {};
    // a pool of IPv6 addresses is beside the one of IPv4
    if (typeof cidr === "string" && cidr.includes(":")) return [];
    return [
      ...blockIssues(cidr, podSubnet, [...path, index, "cidr"]),
      ...sizeIssues(blockSize, cidr, [...path, index, "blockSize"], CALICO_BLOCK),
    ];
  });
}

/** Where Cilium finds the API server without kube-proxy, which gives its pods the address of a Service. */
const API_ADDRESS = ["k8sServiceHost", "k8sServicePort"] as const;

function ciliumIssues(values: object, { network, kubeadm }: NetworkSettings): ValidationIssue[] {
  const { podSubnet } = networkOf(network);
  const mode = valueAt(values, ["ipam", "mode"]);
  const operator = ["ipam", "operator"];
  const list = valueAt(values, [...operator, "clusterPoolIPv4PodCIDRList"]);
  const at = [...operator, "clusterPoolIPv4PodCIDRList"];
  const blocks: unknown[] = Array.isArray(list) ? list : [list];
  const size = valueAt(values, [...operator, "clusterPoolIPv4MaskSize"]);
  const pools =
    mode === "cluster-pool"
      ? blocks.flatMap((block, index) => [
          ...blockIssues(block, podSubnet, Array.isArray(list) ? [...at, index] : at),
          ...sizeIssues(size, block, [...operator, "clusterPoolIPv4MaskSize"]),
        ])
      : [];
  const withoutProxy = !hasKubeProxy({ kubeadm: kubeadm as ClusterSpecification["kubeadm"] });
  const native = valueAt(values, ["ipv4NativeRoutingCIDR"]);
  const routed = typeof native === "string" && native !== "" ? parseCidr(native) : undefined;
  const pods = parseCidr(podSubnet);
  const routing = issueAt(
    ["ipv4NativeRoutingCIDR"],
    routed && pods && !(routed.prefix <= pods.prefix && cidrContains(routed, pods.first))
      ? `${quoted(String(native))} does not contain network.podSubnet ${quoted(podSubnet)}, so that Cilium would translate the addresses of pods; write it, or a larger block`
      : routed === undefined &&
          valueAt(values, ["routingMode"]) === "native" &&
          valueAt(values, ["enableIPv4Masquerade"]) !== false
        ? `is missing, and Cilium with routingMode: native does not start without it; write ${podSubnet}`
        : undefined,
  );
  const ofPools = ["ipam", "operator", "autoCreateCiliumPodIPPools"];
  const multiPool = mode === "multi-pool" ? (valueAt(values, ofPools) ?? {}) : {};
  const multiPools =
    mode === "multi-pool" && Object.keys(multiPool).length === 0
      ? issueAt(
          ofPools,
          `is missing, so that pods would get no address; write {default: {ipv4: {cidrs: [${podSubnet}], maskSize: 27}}}`,
        )
      : Object.keys(isObject(multiPool) ? multiPool : {}).flatMap((name) => {
          const at = [...ofPools, name, "ipv4", "cidrs"];
          const cidrs = valueAt(values, at);
          return (Array.isArray(cidrs) ? cidrs : []).flatMap((cidr: unknown, index) =>
            blockIssues(cidr, podSubnet, [...at, index]),
          );
        });
  const ipv4 = issueAt(
    ["ipv4", "enabled"],
    valueAt(values, ["ipv4", "enabled"]) === false
      ? "is false, and pods have addresses of network.podSubnet, which are IPv4; remove it"
      : undefined,
  );
  const missing = API_ADDRESS.filter((field) => valueAt(values, [field]) === undefined);
  const needed =
    "is missing: without kube-proxy, Cilium finds no API server; write the host and port of the endpoint (of endpoint.loopback: 127.0.0.1 and its port)";
  return [
    ...pools,
    ...multiPools,
    ...routing,
    ...ipv4,
    ...(withoutProxy ? missing.flatMap((field) => issueAt([field], needed)) : []),
  ];
}

/** Returns the issues of a plugin's values against the blocks of the cluster; paths are relative to `network.plugin`. */
export function pluginBlockIssues(settings: NetworkSettings): ValidationIssue[] {
  const { podSubnet } = networkOf(settings.network);
  const plugin = (settings.network?.plugin ?? {}) as Readonly<
    Record<string, { values?: unknown } | undefined>
  >;
  const valuesOf = (name: string): object => {
    const { values } = plugin[name] ?? {};
    return isObject(values) ? values : {};
  };
  const at = (name: string, issues: ValidationIssue[]) => below([name, "values"], issues);
  return [
    ...(plugin["flannel"] ? at("flannel", flannelIssues(valuesOf("flannel"), podSubnet)) : []),
    ...(plugin["calico"] ? at("calico", calicoIssues(valuesOf("calico"), podSubnet)) : []),
    ...(plugin["cilium"] ? at("cilium", ciliumIssues(valuesOf("cilium"), settings)) : []),
  ];
}

/** Returns whether a plugin gives pods the addresses of their node's block; undefined for one that foresail does not know. */
export function usesNodeBlocks(settings: NetworkSettings): boolean | undefined {
  const plugin = settings.network?.plugin ?? { flannel: {} };
  if ("bridge" in plugin || "flannel" in plugin) return true;
  if ("calico" in plugin) return false;
  if (!("cilium" in plugin)) return undefined;
  const mode = valueAt(plugin, ["cilium", "values", "ipam", "mode"]);
  return mode === undefined || mode === "kubernetes";
}
