import type * as pulumi from "@pulumi/pulumi";
import type {
  KubeadmClusterArgs,
  NetworkPlugin,
  RolloutArgs,
  SshArgs,
} from "../components/kubeadm/kubeadm-cluster-args";
import type { SoftwareSource } from "../providers/kubeadm/plan/specification";
import type { JsonObject } from "../lib/merge";
import type { BaseCluster, KubeadmConfiguration } from "./schema";
import { JUMP_HOST_KEY } from "./schema/secrets";

/** Returns the arguments of a kubeadm cluster that do not depend on the system of its machines. */
export function kubeadmArguments({
  cluster,
  sshPrivateKey,
  sshPrivateKeys,
  registryCredentials,
}: KubeadmConfiguration): Omit<KubeadmClusterArgs, "machines" | "endpoint" | "lost"> {
  return {
    version: cluster.version,
    ssh: {
      user: cluster.ssh.user,
      dialTimeoutSeconds: cluster.ssh.dialTimeoutSeconds,
      requireHostKeys: cluster.ssh.requireHostKeys,
      privateKey: sshPrivateKey,
      jumpHost: jumpHost(cluster, sshPrivateKeys),
    },
    source: source(cluster),
    network: { ...cluster.network, plugin: cluster.network.plugin as NetworkPlugin },
    kubeadm: cluster.kubeadm as Record<string, JsonObject>,
    kubelet: cluster.kubelet as JsonObject,
    kubeProxy: cluster.kubeProxy as JsonObject,
    files: cluster.files,
    proxy: cluster.proxy,
    registries: { mirrors: cluster.registries.mirrors, credentials: registryCredentials },
    imageRepository: cluster.imageRepository,
    caBundle: cluster.caBundle,
    encryptSecretsAtRest: cluster.encryptSecretsAtRest,
    ignorePreflightErrors: cluster.ignorePreflightErrors,
    drain: cluster.drain,
    rollout: cluster.rollout as RolloutArgs,
    timeouts: cluster.timeouts,
    bootstrapRevision: cluster.bootstrapRevision,
  };
}

function jumpHost(
  { ssh: { jumpHost: host } }: BaseCluster,
  privateKeys: pulumi.Output<Record<string, string>>,
): SshArgs["jumpHost"] {
  if (!host) return undefined;
  return { ...host, privateKey: privateKeys.apply((keys) => keys[JUMP_HOST_KEY]) as pulumi.Output<string> };
}

function source({ source: { bundle, packages } }: BaseCluster): SoftwareSource | undefined {
  if (bundle) return { bundle } as SoftwareSource;
  return packages?.repository ? { packages: { repository: packages.repository } } : undefined;
}
