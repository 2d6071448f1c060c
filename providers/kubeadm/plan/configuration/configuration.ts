import { differingPaths } from "../../../../lib/differences";
import { ownValue } from "../../../../lib/json";
import { stableHash } from "../../../../lib/short-hash";
import { valueAt, type ConfigurationPath } from "../../../../lib/validation/validation-issue";
import { addedNames, differingNames } from "./certificate-names";
import { etcdSettings } from "./etcd-settings";
import type { Role } from "../cluster/machine";
import {
  clusterWide,
  type MachineSpecification,
  memberOf,
  type PoolMember,
  poolsWithSettings,
  specificationOf,
} from "../cluster/pools";
import { hashableProxy } from "./proxy";
import { type ClusterSpecification, controlPlaneEndpoint, filesOf } from "../cluster/specification";

/**
 * Versions of nodes' configuration, by role, and of pools with settings of their own: hashes of their parts, separated by
 * dots (`PARTS`).
 */
export type ConfigurationVersions = Record<Role, string> & { pools?: Readonly<Record<string, string>> };

/** What the state has of versions, once the configuration has changed. */
export interface Baselined {
  /**
   * Versions of nodes that report none: they have the configuration from before the first change. A part in which nothing
   * changed yet can be absent.
   */
  baseline: ConfigurationVersions;
}

/** Returns the version of a machine. */
export const versionFor = (versions: ConfigurationVersions, { role, group }: PoolMember): string =>
  ownValue(versions.pools ?? {}, group) ?? versions[role];

/** Parts of kubeadm's ClusterConfiguration whose changes reach the static pods of running control planes. */
export const STATIC_POD_SETTINGS = ["apiServer", "controllerManager", "scheduler"] as const;

/**
 * Returns the settings of joined machines that can change, by the part of a version that they belong to.
 *
 * @param role whose files it has. @default all files
 */
export function settingsByPart(specification: MachineSpecification, role?: Role) {
  const { proxy, caBundle, registryMirrors, registryServers, registryHosts, kubelet, kubeadm } =
    specification;
  // absent in state of older releases
  const files = (specification.files as ClusterSpecification["files"] | undefined) ?? [];
  return {
    machine: {
      files: role === undefined ? files : filesOf({ files }, role),
      proxy: proxy && { ...hashableProxy(proxy), noProxy: proxy.noProxy ?? [] },
      caBundle,
      registries: {
        mirrors: registryMirrors ?? {},
        ...(registryServers ? { servers: registryServers } : {}),
        ...(registryHosts ? { hosts: registryHosts } : {}),
      },
    },
    kubelet: { kubelet: kubelet ?? {} },
    "control-plane": {
      kubeadm: {
        clusterConfiguration: Object.fromEntries(
          STATIC_POD_SETTINGS.map((name) => [name, kubeadm?.clusterConfiguration?.[name] ?? {}]),
        ),
      },
    },
    etcd: {
      kubeadm: {
        clusterConfiguration: {
          etcd: { local: etcdSettings(kubeadm?.clusterConfiguration?.["etcd"]).rolling },
        },
      },
    },
    certificates: { names: addedNames(specification) },
    endpoint: { endpoint: specification.endpoint },
  };
}

type Part = keyof ReturnType<typeof settingsByPart>;

/** Parts of a version, in its order; a worker has no static pods. */
export const PARTS: Readonly<Record<Role, readonly Part[]>> = {
  worker: ["machine", "kubelet", "endpoint"],
  "control-plane": ["machine", "kubelet", "control-plane", "etcd", "certificates", "endpoint"],
};

/** How many parts a version has until a setting of a further part changes for the first time. */
const FIRST_PARTS: Readonly<Record<Role, number>> = { worker: 2, "control-plane": 3 };

const HASH_LENGTH = 6;

export const hashOf = (value: unknown) => stableHash(value, HASH_LENGTH);

/**
 * Returns the version of each role's configuration. The same settings always have the same version.
 *
 * @param rolled what the state has of the configuration: a version has the parts of its baseline
 */
export function configurationVersions(
  specification: ClusterSpecification,
  rolled?: Baselined,
): ConfigurationVersions {
  const versionOf = (settings: MachineSpecification, member: PoolMember) => {
    const { role } = member;
    const count = rolled ? partsOf(versionFor(rolled.baseline, member)).length : FIRST_PARTS[role];
    return versionWith(settings, role, PARTS[role].slice(0, count));
  };
  const cluster = clusterWide(specification);
  const ofRole = (role: Role) => versionOf(cluster, { role, group: "" });
  const ofPool = (group: string) =>
    versionOf(specificationOf(specification, memberOf(group)), memberOf(group));
  return {
    worker: ofRole("worker"),
    "control-plane": ofRole("control-plane"),
    ...byPool(poolsWithSettings(specification), ofPool),
  };
}

/** Returns a version for each pool; without the field for none. */
export function byPool(
  pools: readonly string[],
  versionOf: (group: string) => string,
): Pick<ConfigurationVersions, "pools"> {
  return pools.length === 0
    ? {}
    : { pools: Object.fromEntries(pools.map((group) => [group, versionOf(group)])) };
}

const partsOf = (version: string) => version.split(".");

export function versionWith(specification: MachineSpecification, role: Role, parts: readonly Part[]): string {
  const settings = settingsByPart(specification, role);
  return parts.map((part) => hashOf(settings[part])).join(".");
}

/** Returns the version of the settings from which kubeadm writes those of nodes. */
export const kubeadmVersion = (specification: ClusterSpecification): string =>
  versionWith(clusterWide(specification), "control-plane", [
    "kubelet",
    "control-plane",
    "etcd",
    "certificates",
  ]);

/** Returns the version of the settings of kube-proxy. */
export const kubeProxyVersion = (specification: ClusterSpecification): string =>
  hashOf(clusterSettings(specification));

/** Returns whether control planes' versions have parts that the first ones had not. */
export const hasFurtherParts = ({ baseline }: Baselined): boolean =>
  partsOf(baseline["control-plane"]).length > FIRST_PARTS["control-plane"];

/**
 * Returns a version with the parts that it does not have from a baseline: as long as the settings of a part had not
 * changed, it was in no version.
 */
export const completedVersion = (version: string, baseline: string): string =>
  [...partsOf(version), ...partsOf(baseline).slice(partsOf(version).length)].join(".");

/** Returns the hash of what preparation writes, which a machine keeps until it joins. */
export const preparedVersion = (specification: MachineSpecification, role: Role): string =>
  hashOf(settingsByPart(specification, role).machine);

/**
 * Returns whether a change of version drains the node: a restarted kubelet with other settings may refuse or evict pods
 * that run. Files, containerd's settings and static pods change without a drain. Versions that can't be compared drain.
 */
export function drainsFor(from: string, to: string): boolean {
  const [before, after] = [from.split("."), to.split(".")];
  const kubelet = PARTS.worker.indexOf("kubelet");
  return before.length !== after.length || before[kubelet] !== after[kubelet];
}

/**
 * Returns whether a change of version has other settings for kubeadm, which then writes the kubelet's configuration and
 * static pods from them; otherwise it writes those again that a node has. Versions that can't be compared have.
 */
export function changesKubeadm(from: string, to: string): boolean {
  const ofKubeadm = (version: string) => version.split(".").slice(PARTS.worker.indexOf("machine") + 1);
  return ofKubeadm(from).join() !== ofKubeadm(to).join();
}

/** Returns whether a change of version gives the member of etcd on the node other settings, for which it restarts. */
export const changesEtcd = (from: string, to: string): boolean =>
  changesPart("etcd", "control-plane", from, to);

/** Returns the part of a control plane's version that is of etcd; empty for a version without it. */
export const etcdPart = (version: string): string =>
  partsOf(version)[PARTS["control-plane"].indexOf("etcd")] ?? "";

/** Returns whether a change of version gives the API server on the node a certificate with other names. */
export const changesCertificate = (from: string, to: string): boolean =>
  changesPart("certificates", "control-plane", from, to);

/** Returns whether a change of version moves the node to another endpoint of the API servers. */
export const changesEndpoint = (role: Role, from: string, to: string): boolean =>
  changesPart("endpoint", role, from, to);

function changesPart(part: Part, role: Role, from: string, to: string): boolean {
  const at = PARTS[role].indexOf(part);
  return partsOf(from)[at] !== partsOf(to)[at];
}

/** Settings that reach the cluster and not its nodes: kube-proxy runs in pods of a DaemonSet. */
const clusterSettings = ({ kubeProxy }: ClusterSpecification) => ({ kubeProxy: kubeProxy ?? {} });

/** Fields from which others are made, and which are named first. */
const sources = ({ authentication, profile }: ClusterSpecification) => ({ authentication, profile });

/** What a change of configuration does to the cluster's own objects, before it reaches any node. */
export interface ConfigurationChange {
  /** Configuration paths that differ. */
  paths: ConfigurationPath[];
  /** Whether kubeadm-config and kubelet-config are written, from which nodes get their configuration. */
  upload: boolean;
  /** Whether kube-proxy gets other settings and restarts on every node. */
  kubeProxy: boolean;
  /** host:port at which nodes find the API servers from now on; absent where it stays. */
  endpoint?: string;
}

/** Returns the difference between two configurations; undefined when there is none that rolls out. */
export function configurationChange(
  olds: ClusterSpecification,
  news: ClusterSpecification,
): ConfigurationChange | undefined {
  const [before, after] = [settingsByPart(clusterWide(olds)), settingsByPart(clusterWide(news))];
  const pathsOf = (part: Part) => differingPaths(before[part], after[part]);
  const proxyPaths = differingPaths(clusterSettings(olds), clusterSettings(news));
  const uploaded = [
    ...pathsOf("kubelet"),
    ...pathsOf("control-plane"),
    ...pathsOf("etcd"),
    // the others are among the paths of static pods
    ...differingNames(olds, news).filter(([field]) => field === "certificateNames"),
  ];
  const moved = pathsOf("endpoint");
  const ofPools = differingPaths({ pools: olds.pools ?? {} }, { pools: news.pools ?? {} });
  const changed = [...pathsOf("machine"), ...uploaded, ...proxyPaths, ...moved, ...ofPools];
  if (changed.length === 0) return undefined;
  const paths = [...differingPaths(sources(olds), sources(news)), ...changed];
  return {
    paths,
    upload: uploaded.length > 0,
    kubeProxy: proxyPaths.length > 0,
    ...(moved.length > 0 ? { endpoint: controlPlaneEndpoint(news.endpoint) } : {}),
  };
}

/** Returns whether kubeadm installed kube-proxy: a network plugin may take its place. */
export function hasKubeProxy({ kubeadm }: { kubeadm?: ClusterSpecification["kubeadm"] }): boolean {
  if (valueAt(kubeadm?.clusterConfiguration ?? {}, ["proxy", "disabled"]) === true) return false;
  const skipped = valueAt(kubeadm?.initConfiguration ?? {}, ["skipPhases"]);
  return !(
    Array.isArray(skipped) && skipped.some((phase) => phase === "addon/kube-proxy" || phase === "addon")
  );
}

/** Returns a specification without the settings that roll out: what is left is fixed once a machine has joined. */
export function fixedMachineSettings(specification: ClusterSpecification): Record<string, unknown> {
  const { kubeadm, network, kubelet } = specification;
  const { etcd, ...own } = kubeadm?.clusterConfiguration ?? {};
  const others = Object.entries(own).filter(
    ([name]) => !(STATIC_POD_SETTINGS as readonly string[]).includes(name),
  );
  return {
    kubelet: { cgroupDriver: kubelet?.cgroupDriver },
    // nothing would read it
    kubeProxy: hasKubeProxy(specification) ? {} : (specification.kubeProxy ?? {}),
    kubeadm: {
      clusterConfiguration: {
        ...Object.fromEntries(others),
        etcd: etcdSettings(etcd).fixed,
      },
      initConfiguration: kubeadm?.initConfiguration ?? {},
    },
    imageRepository: specification.imageRepository,
    network: { holdNodeAddress: network.holdNodeAddress ?? false },
  };
}
