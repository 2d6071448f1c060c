import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import type { KubeadmObjects } from "./adoption-facts";
import type { ConfigurationChange } from "../configuration/configuration";

/** The ConfigMap with kube-proxy's configuration, and its key, as kubeadm installs it. */
export const KUBE_PROXY_CONFIGURATION = { name: "kube-proxy", key: "config.conf" } as const;

/** The DaemonSet of kube-proxy. */
export const KUBE_PROXY = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  namespace: "kube-system",
  name: "kube-proxy",
} as const;

/** What a DaemonSet says about the configuration that its pods read. */
export interface KubeProxyDaemonSet {
  spec?: {
    updateStrategy?: { type?: string };
    template?: {
      spec?: {
        containers?: {
          command?: string[];
          args?: string[];
          volumeMounts?: { name?: string; mountPath?: string }[];
        }[];
        volumes?: { name?: string; configMap?: { name?: string } }[];
      };
    };
  };
}

/** Returns whether a container of the DaemonSet is started with the configuration in the ConfigMap. */
function readsConfigMap({ spec }: KubeProxyDaemonSet): boolean {
  const { containers = [], volumes = [] } = spec?.template?.spec ?? {};
  const { name, key } = KUBE_PROXY_CONFIGURATION;
  const mounted = volumes.filter(({ configMap }) => configMap?.name === name).map((volume) => volume.name);
  return containers.some(({ command = [], args = [], volumeMounts = [] }) =>
    volumeMounts
      .filter((mount) => mounted.includes(mount.name))
      .some(({ mountPath = "" }) =>
        [...command, ...args].includes(`--config=${mountPath.replace(/\/$/, "")}/${key}`),
      ),
  );
}

/**
 * Refuses a change of kube-proxy's settings in a cluster whose nodes have another kube-proxy than that of kubeadm, or none.
 *
 * @param daemonSet undefined for none
 */
export function kubeProxyIssues(
  change: ConfigurationChange,
  objects: KubeadmObjects,
  daemonSet: KubeProxyDaemonSet | undefined,
): ValidationIssue[] {
  if (!change.kubeProxy) return [];
  const refused = (why: string) => issueAt(["kubeProxy"], `can't change: ${why}; put the old value back`);
  const { name, key } = KUBE_PROXY_CONFIGURATION;
  if (!objects.kubeProxy) return refused(`the cluster has no ConfigMap kube-system/${name} with ${key}`);
  if (!daemonSet) return refused(`the cluster has no DaemonSet kube-system/${KUBE_PROXY.name}`);
  if (!readsConfigMap(daemonSet))
    return refused(`the DaemonSet kube-system/${KUBE_PROXY.name} does not read ${key} of the ConfigMap`);
  return daemonSet.spec?.updateStrategy?.type === "OnDelete"
    ? refused(
        `the DaemonSet kube-system/${KUBE_PROXY.name} has the update strategy OnDelete, so no pod would restart`,
      )
    : [];
}
