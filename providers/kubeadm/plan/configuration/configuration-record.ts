import { isDeepStrictEqual } from "node:util";
import { isObject, parseJson } from "../../../../lib/json";
import { type ConfigurationChange, kubeadmVersion, kubeProxyVersion } from "./configuration";
import { type ClusterSpecification, controlPlaneEndpoint } from "../cluster/specification";

/** Parts of the cluster's own objects that a changed configuration is written into. */
const PARTS = ["kubeadm", "kubeProxy", "endpoint"] as const;
export type WrittenPart = (typeof PARTS)[number];

/** Returns whether the text names such a part. */
export const isWrittenPart = (text: string | undefined): text is WrittenPart =>
  PARTS.some((part) => part === text);

/**
 * Which settings the cluster's own objects may have, by part: one version, or several while a write has not ended. It is
 * in the cluster, since a state knows nothing of a run that was killed. A part that never changed is absent.
 */
export type ConfigurationRecord = Partial<Record<WrittenPart, readonly string[]>>;

/** Returns the version of the settings in each part; the endpoint's is the endpoint. */
const versionsOf = (specification: ClusterSpecification): Record<WrittenPart, string> => ({
  kubeadm: kubeadmVersion(specification),
  kubeProxy: kubeProxyVersion(specification),
  endpoint: controlPlaneEndpoint(specification.endpoint),
});

/** Returns the parts that a change is written into. */
export const writtenParts = (change: ConfigurationChange | undefined): WrittenPart[] => [
  ...(change?.upload ? (["kubeadm"] as const) : []),
  ...(change?.kubeProxy ? (["kubeProxy"] as const) : []),
  ...(change?.endpoint === undefined ? [] : (["endpoint"] as const)),
];

/**
 * Returns the record before a write: from now on the parts may have the old settings or the new ones.
 *
 * @param olds what the parts have as long as they are not in the record
 */
export function beginWrite(
  record: ConfigurationRecord,
  parts: readonly WrittenPart[],
  { olds, news }: { olds: ClusterSpecification; news: ClusterSpecification },
): ConfigurationRecord {
  const [before, after] = [versionsOf(olds), versionsOf(news)];
  const begun: ConfigurationRecord = Object.fromEntries(
    parts.map((part) => [part, [...new Set([...(record[part] ?? [before[part]]), after[part]])]]),
  );
  return { ...record, ...begun };
}

/** Returns the record after a write: the parts have these settings. */
export function endWrite(
  record: ConfigurationRecord,
  parts: readonly WrittenPart[],
  news: ClusterSpecification,
): ConfigurationRecord {
  const versions = versionsOf(news);
  return { ...record, ...Object.fromEntries(parts.map((part) => [part, [versions[part]]])) };
}

/** Returns the parts that may have other settings than these: a run was killed, and the stack has other settings now. */
export function interruptedParts(
  record: ConfigurationRecord,
  specification: ClusterSpecification,
): WrittenPart[] {
  const versions = versionsOf(specification);
  return PARTS.filter((part) => record[part] && !isDeepStrictEqual(record[part], [versions[part]]));
}

/** Hashes and endpoints. */
const VERSION = /^[\w.:-]+$/;

/** Parses the record; what has another form is left out. */
export function parseRecord(text: string | undefined): ConfigurationRecord {
  const value = parseJson(text ?? "{}");
  if (!isObject(value)) return {};
  const isVersions = (versions: unknown): versions is string[] =>
    Array.isArray(versions) && versions.every((each) => typeof each === "string" && VERSION.test(each));
  return Object.fromEntries(PARTS.flatMap((part) => (isVersions(value[part]) ? [[part, value[part]]] : [])));
}
