import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../../lib/json";
import { type JsonObject, mergeReplacing } from "../../../../lib/merge";
import { quoted } from "../../../../lib/text/quote";
import { below, issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { CONTROL_PLANE_GROUP } from "../cluster/machine";
import { type ClusterSettings, contradictionIssues } from "./contradictions";
import { plainHostIssues, type RegistrySettings, unusedHostIssues } from "./registries";
import { unknownName } from "./rollout";

/** Settings of a pool as they are written; absent ones are not readable or not set. */
interface WrittenPool {
  kubelet?: unknown;
  files?: readonly { path?: string }[];
  registries?: RegistrySettings;
}

/** A cluster with settings of pools. */
export interface ClusterOfPools extends ClusterSettings {
  files?: readonly { path?: string }[];
  registries?: RegistrySettings;
  pools?: Readonly<Record<string, WrittenPool | undefined>>;
}

/**
 * Returns the issues of settings of pools, also those that they have only together with the settings of the cluster; paths
 * are relative to it.
 *
 * @param groups the worker pools that there are
 */
export function poolSettingIssues(cluster: ClusterOfPools, groups: readonly string[]): ValidationIssue[] {
  const known = [...new Set([CONTROL_PLANE_GROUP, ...groups])];
  return Object.entries(cluster.pools ?? {}).flatMap(([name, pool = {}]) =>
    below(
      ["pools", name],
      [
        ...issueAt([], known.includes(name) ? undefined : unknownName("pool", name, known)),
        ...kubeletIssues(cluster, pool),
        ...fileIssues(cluster, pool),
        ...registryIssues(cluster, pool),
      ],
    ),
  );
}

const DRIVER =
  "is that of containerd on every machine, which can't differ between pools; remove it, or write it in cluster.kubelet before the cluster is made";

/** Returns the issues that the kubelet's settings of a pool have over those of the cluster. */
function kubeletIssues(cluster: ClusterOfPools, { kubelet }: WrittenPool): ValidationIssue[] {
  if (!isObject(kubelet) || Object.keys(kubelet).length === 0) return [];
  const ofCluster = contradictionIssues(cluster);
  const merged = contradictionIssues({
    ...cluster,
    kubelet: mergeReplacing(
      (isObject(cluster.kubelet) ? cluster.kubelet : {}) as JsonObject,
      kubelet as JsonObject,
    ),
  });
  const own = merged.filter((issue) => !ofCluster.some((one) => isDeepStrictEqual(one, issue)));
  return [
    ...issueAt(["kubelet", "cgroupDriver"], kubelet["cgroupDriver"] === undefined ? undefined : DRIVER),
    // what contradicts an argument of the control plane is found there
    ...own.map(({ path, message }) => ({ path: path[0] === "kubelet" ? path : ["kubelet"], message })),
  ];
}

/** Returns an issue for each file that can't be beside those of the cluster. */
function fileIssues(
  { files: ofCluster = [] }: ClusterOfPools,
  { files = [] }: WrittenPool,
): ValidationIssue[] {
  const isBelow = (path: string, file: string) => path.startsWith(`${file}/`);
  return files.flatMap(({ path = "" }, index) => {
    const other = ofCluster.find(
      (file) => file.path !== undefined && (isBelow(path, file.path) || isBelow(file.path, path)),
    )?.path;
    const message =
      other &&
      `${quoted(path)} and ${quoted(other)} of cluster.files can't both be files, since one is a folder of the other; choose another path`;
    return issueAt(["files", index, "path"], message);
  });
}

/** Returns the issues of registries that are asked otherwise in a pool. */
function registryIssues(cluster: ClusterOfPools, { registries = {} }: WrittenPool): ValidationIssue[] {
  const of = (field: keyof RegistrySettings) => ({ ...cluster.registries?.[field], ...registries[field] });
  const merged = {
    mirrors: of("mirrors"),
    servers: of("servers"),
    hosts: of("hosts"),
  } as Required<RegistrySettings>;
  const own = Object.keys(registries.hosts ?? {});
  const issues = [...unusedHostIssues(merged), ...plainHostIssues(merged)];
  return below(
    ["registries", "hosts"],
    issues.filter(({ path: [url] }) => own.includes(String(url))),
  );
}
