import type * as pulumi from "@pulumi/pulumi";
import type {
  KubeadmClusterArgs,
  NetworkPlugin,
  RolloutArgs,
} from "../components/kubeadm/kubeadm-cluster-args";
import { COMMUNITY_REPOSITORY, type SoftwareSource } from "../providers/kubeadm/plan/cluster/specification";
import type { JsonObject } from "../lib/merge";
import type { KubeadmConfiguration } from "./schema";
import { JUMP_HOST_KEY } from "./schema/secrets";

/** Returns the arguments of a kubeadm cluster that do not depend on the system of its machines. */
export function kubeadmArguments({
  cluster,
  sshPrivateKey,
  sshPrivateKeys,
  registryCredentials,
  proxyCredentials,
}: KubeadmConfiguration): Omit<
  KubeadmClusterArgs,
  "machines" | "endpoint" | "lost" | "adopt" | "resetOnDestroy"
> {
  const { jumpHost, ...ssh } = cluster.ssh;
  const jumpHostKey = sshPrivateKeys.apply((keys) => keys[JUMP_HOST_KEY]) as pulumi.Output<string>;
  return {
    ...cluster,
    ssh: {
      ...ssh,
      privateKey: sshPrivateKey,
      jumpHost: jumpHost && { ...jumpHost, privateKey: jumpHostKey },
    },
    source: source(cluster.source),
    network: { ...cluster.network, plugin: cluster.network.plugin as NetworkPlugin },
    kubeadm: cluster.kubeadm as Record<string, JsonObject>,
    kubelet: cluster.kubelet as JsonObject,
    kubeProxy: cluster.kubeProxy as JsonObject,
    registries: { ...cluster.registries, credentials: registryCredentials },
    proxy: cluster.proxy && { ...cluster.proxy, credentials: proxyCredentials },
    rollout: cluster.rollout as RolloutArgs,
  };
}

function source({ bundle, packages }: KubeadmConfiguration["cluster"]["source"]): SoftwareSource | undefined {
  if (bundle) return { bundle } as SoftwareSource;
  if (packages?.repository === undefined && packages?.keyFingerprint === undefined) return undefined;
  return { packages: { repository: COMMUNITY_REPOSITORY, ...packages } };
}
