import { differingPaths } from "../../../../lib/differences";
import { isObject, readJsonOf } from "../../../../lib/json";
import type { Json, JsonObject } from "../../../../lib/merge";
import { listed } from "../../../../lib/text/quote";
import {
  formatPath,
  issueAt,
  type ValidationIssue,
  valueAt,
} from "../../../../lib/validation/validation-issue";
import type { KubeadmObjects } from "./adoption-facts";
import {
  type ConfigurationChange,
  configurationChange,
  configurationVersions,
  STATIC_POD_SETTINGS,
} from "../configuration/configuration";
import {
  type RolledConfiguration,
  rolledConfiguration,
  changedPools,
  unchangedRoles,
} from "../configuration/rolled-configuration";
import { foreignCertificate } from "../configuration/certificate-names";
import { etcdSettings } from "../configuration/etcd-settings";
import { type MergedSettings, mergeKept, withoutWritten, type WrittenSetting } from "./kept-settings";
import { mirroredRegistries } from "../configuration/registries";
import type { ClusterSpecification } from "../cluster/specification";

/** The objects of kubeadm's into which an adopted cluster's settings are merged. */
export const MERGED_OBJECTS = ["clusterConfiguration", "kubelet", "kubeProxy"] as const;
type MergedObject = (typeof MERGED_OBJECTS)[number];

/** What foresail has written over the objects of an adopted cluster. */
export type WrittenSettings = Partial<Record<MergedObject, WrittenSetting[]>>;

/** The ConfigMap of the cluster that remembers it, so that a change can be undone after any kill. */
export const WRITTEN_SETTINGS = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "kube-system",
  name: "foresail-written-settings",
} as const;

/** What a member of an adopted cluster says before its configuration changes. */
export interface SettingFacts {
  /** Whether the node agent has begun to configure this machine: then its files are foresail's to write. */
  configured: boolean;
  /** Path of the configuration that the kubelet was started with. */
  kubeletPath: string;
  /** Text of /var/lib/kubelet/config.yaml, parsed. */
  kubelet: unknown;
  /** "kube-apiserver --profiling": what the static pods have, and kubeadm's ConfigMap does not. */
  manifests: readonly string[];
  /** "etcd --quota-backend-bytes": the same of its member of etcd, when settings of etcd change. */
  etcd: readonly string[];
  /** Whether containerd reads mirrors from /etc/containerd/certs.d. */
  readsMirrors: boolean;
  /** Units with a proxy that foresail did not set. */
  proxies: readonly string[];
  /** Configured files that exist with a content that is in no version of the stack. */
  files: readonly string[];
}

/** The ClusterConfiguration of a version of kubeadm's API that the static pods' settings can be merged into. */
const KUBEADM_API = "kubeadm.k8s.io/v1beta4";

/** Fields of the kubelet's configuration that kubeadm fills in on each machine. */
const FIELDS_OF_MACHINE = ["containerRuntimeEndpoint", "resolvConf"];

/** Returns the settings of a stack that members of etcd can follow, without empty lists. */
function etcdOf({ clusterConfiguration }: ClusterSpecification["kubeadm"]): JsonObject {
  const lists = Object.entries(etcdSettings(clusterConfiguration?.["etcd"]).rolling);
  const local = Object.fromEntries(lists.filter(([, list]) => list.length > 0)) as JsonObject;
  return Object.keys(local).length > 0 ? { etcd: { local } } : {};
}

/** Returns whether members of etcd get other settings. */
export const changesEtcdSettings = (olds: ClusterSpecification, news: ClusterSpecification): boolean =>
  differingPaths(etcdOf(olds.kubeadm), etcdOf(news.kubeadm)).length > 0;

/** Returns the settings of a stack that are merged into kubeadm's objects. */
const mergedSettings = ({
  kubeadm,
  kubelet,
  kubeProxy,
}: ClusterSpecification): Record<MergedObject, JsonObject> => ({
  clusterConfiguration: {
    ...Object.fromEntries(STATIC_POD_SETTINGS.map((name) => [name, kubeadm.clusterConfiguration?.[name]])),
    ...etcdOf(kubeadm),
  },
  kubelet,
  kubeProxy: kubeProxy ?? {},
});

/** Returns kubeadm's objects with a stack's settings; only those that the cluster has. */
export function mergedObjects(
  objects: KubeadmObjects,
  written: WrittenSettings,
  specification: ClusterSpecification,
): Partial<Record<MergedObject, MergedSettings>> {
  const desired = mergedSettings(specification);
  return Object.fromEntries(
    MERGED_OBJECTS.flatMap((name) => {
      const object = objects[name] as JsonObject | undefined;
      return object ? [[name, mergeKept(object, written[name] ?? [], desired[name])]] : [];
    }),
  );
}

/** Returns kubeadm's objects as they were before foresail changed a setting: machines that it did not configure follow them. */
export function originalObjects(objects: KubeadmObjects, written: WrittenSettings): KubeadmObjects {
  const originals = MERGED_OBJECTS.flatMap((name) => {
    const object = objects[name] as JsonObject | undefined;
    return object ? [[name, withoutWritten(object, written[name] ?? [])]] : [];
  });
  return Object.fromEntries(originals) as KubeadmObjects;
}

/** Parses the record of what foresail has written; nothing without one. */
export function parseWritten(data: Readonly<Record<string, string>> = {}): WrittenSettings {
  return Object.fromEntries(
    MERGED_OBJECTS.flatMap((name) => {
      const text = data[name];
      return text === undefined
        ? []
        : [[name, readJsonOf(`what foresail wrote into ${name}`, text) as WrittenSetting[]]];
    }),
  );
}

/** Returns a specification as adopted machines have it before the first change: foresail has written no file on them. */
function asAdopted(specification: ClusterSpecification): ClusterSpecification {
  const {
    proxy: _proxy,
    caBundle: _caBundle,
    registryServers: _servers,
    registryHosts: _hosts,
    pools: _pools,
    ...others
  } = specification;
  return { ...others, files: [], registryMirrors: {} };
}

/** What the state has of the ClusterInit. */
interface Recorded {
  specification: ClusterSpecification;
  configuration?: RolledConfiguration;
  machines?: Parameters<typeof rolledConfiguration>[2];
}

/**
 * Returns the difference between two configurations of an adopted cluster. With the first change, the adopted machines
 * also get the files, proxies, mirrors and certificates that the stack had for machines that joined later. A change of
 * kube-proxy alone reaches no machine.
 */
export function adoptedChange(
  { specification: before, configuration }: Recorded,
  news: ClusterSpecification,
): ConfigurationChange | undefined {
  const change = configurationChange(before, news);
  if (!change || configuration || !changesMachines(change)) return change;
  return configurationChange(asAdopted(before), news) ?? change;
}

/** Returns whether machines get other settings: kube-proxy is in pods of a DaemonSet. */
export const changesMachines = ({ paths }: ConfigurationChange): boolean =>
  paths.some(([field]) => field !== "kubeProxy");

/** Returns the configuration that an adopted cluster rolls out; undefined until it changes for the first time. */
export function adoptedConfiguration(
  olds: Recorded,
  news: ClusterSpecification,
  machines?: Parameters<typeof rolledConfiguration>[2],
): RolledConfiguration | undefined {
  const rolled = rolledConfiguration(olds, news, machines);
  if (!rolled || olds.configuration) return rolled;
  const { unchanged, changedPools: known = [], ...others } = rolled;
  const baseline = configurationVersions(asAdopted(olds.specification), rolled);
  const desired = configurationVersions(news, { baseline });
  const pools = changedPools(known, desired, baseline);
  return {
    ...others,
    baseline,
    ...unchangedRoles(unchanged, desired, baseline),
    ...(pools.length > 0 ? { changedPools: pools } : {}),
  };
}

/** Refuses a change of kubeadm's objects when the cluster does not have them in a form that can be merged. */
export function mergeIssues(change: ConfigurationChange, objects: KubeadmObjects): ValidationIssue[] {
  if (!change.upload) return [];
  const { apiVersion } = objects.clusterConfiguration ?? {};
  return [
    ...(apiVersion === KUBEADM_API
      ? []
      : issueAt(
          ["kubeadm", "clusterConfiguration"],
          `can't change while the ConfigMap kubeadm-config is not of ${KUBEADM_API}; "kubeadm upgrade apply" of the cluster's own version writes it so`,
        )),
    ...foreignCertificateIssues(change, objects),
    ...externalEtcdIssues(change, objects),
    ...(objects.kubelet
      ? []
      : issueAt(["kubelet"], "can't change: the cluster has no ConfigMap kubelet-config")),
  ];
}

/** Refuses settings of members of etcd that are on no control plane. */
function externalEtcdIssues(
  { paths }: ConfigurationChange,
  { clusterConfiguration }: KubeadmObjects,
): ValidationIssue[] {
  const path = ["kubeadm", "clusterConfiguration", "etcd"];
  if (valueAt(clusterConfiguration, ["etcd", "external"]) === undefined) return [];
  return paths.some((each) => path.every((part, index) => each[index] === part))
    ? issueAt(path, "can't change: the cluster has an external etcd; put the old value back")
    : [];
}

/** Refuses names for certificates that others provide. */
function foreignCertificateIssues(
  { paths }: ConfigurationChange,
  objects: KubeadmObjects,
): ValidationIssue[] {
  const foreign = foreignCertificate(objects.clusterConfiguration);
  if (foreign === undefined) return [];
  const ofNames = paths.filter((path) => path.includes("certSANs") || path[0] === "certificateNames");
  return ofNames.flatMap((path) =>
    issueAt(
      path,
      `can't change: with ${foreign} in the ConfigMap kubeadm-config, the API servers have a certificate that foresail does not write; add the names to that certificate, and put the old value back`,
    ),
  );
}

/**
 * Returns why a changed configuration would take something away that others configured on a machine, each with the fix.
 *
 * @param original kubeadm's objects from before foresail's first change
 */
export function machineSettingIssues(
  machine: string,
  facts: SettingFacts,
  specification: ClusterSpecification,
  original: KubeadmObjects,
): ValidationIssue[] {
  const at = (path: (string | number)[], message: string) => issueAt(path, `${machine}: ${message}`);
  const { files, proxy } = specification;
  const hosts = (path: string) => path.startsWith("/etc/containerd/certs.d/");
  return [
    ...(facts.configured ? [] : unmanagedIssues(facts, original).flatMap((message) => at([], message))),
    ...(facts.etcd.length === 0
      ? []
      : at(
          ["kubeadm", "clusterConfiguration", "etcd"],
          `its member of etcd is not what the ConfigMap kubeadm-config says (${listed(facts.etcd)}), and a change would overwrite it; bring both to the same values`,
        )),
    ...(mirroredRegistries(specification).length === 0 || facts.readsMirrors
      ? []
      : at(
          ["registries", "mirrors"],
          'its containerd does not read them; set config_path = "/etc/containerd/certs.d" in the machine\'s /etc/containerd/config.toml and restart containerd',
        )),
    ...(proxy && facts.proxies.length > 0
      ? at(
          ["proxy"],
          `${listed(facts.proxies)} ${facts.proxies.length === 1 ? "has" : "have"} a proxy that foresail did not set; remove that drop-in of the unit, or the setting`,
        )
      : []),
    ...facts.files.flatMap((path) => {
      const index = files.findIndex((file) => file.path === path);
      const where = hosts(path) ? ["registries", "mirrors"] : ["files", Math.max(index, 0), "content"];
      return at(
        where,
        `${path} exists with another content that foresail did not write; remove it, or write the content that it has here, and change it in a later run`,
      );
    }),
  ];
}

/** What kubeadm would overwrite, since its ConfigMaps don't have it. */
function unmanagedIssues(facts: SettingFacts, original: KubeadmObjects): string[] {
  const { kubeletPath, manifests } = facts;
  if (kubeletPath !== "/var/lib/kubelet/config.yaml")
    return [
      `its kubelet reads ${kubeletPath || "no configuration file"}, not /var/lib/kubelet/config.yaml, which kubeadm writes; its configuration can't change`,
    ];
  const own = (value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !FIELDS_OF_MACHINE.includes(name)))
      : (value as Json);
  const kubelet = differingPaths(own(original.kubelet), own(facts.kubelet)).map((path) => formatPath(path));
  return [
    ...(kubelet.length > 0
      ? [
          `its /var/lib/kubelet/config.yaml is not what the ConfigMap kubelet-config says (${listed(kubelet)}), and a change would overwrite it; bring both to the same values`,
        ]
      : []),
    ...(manifests.length > 0
      ? [
          `its static pods are not what the ConfigMap kubeadm-config says (${listed(manifests)}), and a change would overwrite them; bring both to the same values`,
        ]
      : []),
  ];
}
