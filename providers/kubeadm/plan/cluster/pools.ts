import { basename, dirname } from "node:path/posix";
import { isObject, ownValue, stableJson } from "../../../../lib/json";
import { type JsonObject, mergeReplacing } from "../../../../lib/merge";
import { valueAt } from "../../../../lib/validation/validation-issue";
import type { Registries } from "../configuration/registries";
import { CONTROL_PLANE_GROUP, type Machine, type Role } from "./machine";
import { NODE_PATHS } from "./node-paths";
import type { ClusterSpecification, ExtraFile } from "./specification";

/** Settings of one machine: those of the cluster with those of its pool. */
export type MachineSpecification = Omit<ClusterSpecification, "pools"> & { pools?: never };

/** The pool of a machine, and its role. */
export type PoolMember = Pick<Machine, "role" | "group">;

/** Returns a machine of a pool, which decides the role. */
export const memberOf = (group: string): PoolMember => ({
  group,
  role: group === CONTROL_PLANE_GROUP ? "control-plane" : "worker",
});

/** Returns the pools that have settings of their own. */
export const poolsWithSettings = ({ pools }: Pick<ClusterSpecification, "pools">): string[] =>
  Object.keys(pools ?? {});

/**
 * Name of kubeadm's patch with the kubelet's settings of a pool: kubeadm merges it, as RFC 7386 says, over those of the cluster. It
 * merges patches in the order of their names, so this one comes after those of the user, which are for all pools.
 */
export const KUBELET_PATCH = "kubeletconfiguration~foresail+merge.json";

/** Returns the folders with kubeadm's patches that init and join were given, which kubeadm itself does not record. */
export function patchFolders({ kubeadm }: Pick<ClusterSpecification, "kubeadm">) {
  const folderOf = (configuration?: JsonObject) => {
    const folder = valueAt(configuration ?? {}, ["patches", "directory"]);
    return typeof folder === "string" ? folder : undefined;
  };
  return { init: folderOf(kubeadm.initConfiguration), join: folderOf(kubeadm.joinConfiguration) };
}

/** Returns the folders of a machine in which foresail writes such a patch. */
export const kubeletPatchFolders = ({ files }: Pick<MachineSpecification, "files">): string[] =>
  files.flatMap(({ path }) => (basename(path) === KUBELET_PATCH ? [dirname(path)] : []));

/** Returns the cluster's settings without those of pools. */
export function clusterWide({ pools: _, ...cluster }: ClusterSpecification): MachineSpecification {
  return cluster;
}

/** Returns the settings of a cluster with those of a pool over them, as both are written. */
export function withPool(specification: ClusterSpecification, group: string): MachineSpecification {
  const cluster = clusterWide(specification);
  const own = ownValue(specification.pools ?? {}, group);
  if (own === undefined) return cluster;
  const { kubelet, files, ...registries } = own;
  const merged = Object.entries(registries).map(([name, value]) => [
    name,
    { ...cluster[name as keyof Registries], ...value },
  ]);
  return {
    ...cluster,
    ...(Object.fromEntries(merged) as Partial<Registries>),
    ...(kubelet ? { kubelet: mergeReplacing(cluster.kubelet, kubelet) } : {}),
    ...(files ? { files: mergedFiles(cluster.files, files) } : {}),
  };
}

/** Returns files with others over them: one replaces that at its path. */
export const mergedFiles = <File extends { path: string }>(
  files: readonly File[],
  over: readonly File[],
): File[] => [...files.filter(({ path }) => !over.some((file) => file.path === path)), ...over];

/** Returns the settings of a machine: those of the cluster with those of its pool, and the files that they stand for. */
export function specificationOf(
  specification: ClusterSpecification,
  { role, group }: PoolMember,
): MachineSpecification {
  const merged = withPool(specification, group);
  const kubelet = ownValue(specification.pools ?? {}, group)?.kubelet;
  return kubelet === undefined || Object.keys(kubelet).length === 0
    ? merged
    : withKubeletPatch(merged, kubelet, role);
}

/**
 * Returns the settings of a machine with the patch by which kubeadm gives its kubelet the settings of its pool: the
 * ConfigMap kubelet-config has those of the cluster alone.
 */
function withKubeletPatch(
  specification: MachineSpecification,
  kubelet: JsonObject,
  role: Role,
): MachineSpecification {
  const { kubeadm, files } = specification;
  const { init = NODE_PATHS.ownPatches, join = NODE_PATHS.ownPatches } = patchFolders(specification);
  const folders = new Set(role === "worker" ? [join] : [init, join]);
  const content = `${JSON.stringify(JSON.parse(stableJson(kubelet)), null, 2)}\n`;
  const patches = [...folders].map((folder) => ({
    path: `${folder}/${KUBELET_PATCH}`,
    content,
    mode: "0600",
  }));
  const inFolder = (configuration: JsonObject | undefined, directory: string): JsonObject => {
    const written = configuration?.["patches"];
    return {
      ...configuration,
      patches: { ...(isObject(written) ? written : {}), directory },
    };
  };
  return {
    ...specification,
    files: mergedFiles<ExtraFile>(files, patches),
    kubeadm: {
      ...kubeadm,
      initConfiguration: inFolder(kubeadm.initConfiguration, init),
      joinConfiguration: inFolder(kubeadm.joinConfiguration, join),
    },
  };
}
