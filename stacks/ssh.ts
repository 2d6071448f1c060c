import type * as pulumi from "@pulumi/pulumi";
import { KubeadmCluster } from "../components/kubeadm/kubeadm-cluster";
import type {
  MachineArgs,
  NetworkPlugin,
  RolloutArgs,
  SshArgs,
} from "../components/kubeadm/kubeadm-cluster-args";
import type { SoftwareSource } from "../core/kubeadm/specification";
import type { JsonObject } from "../core/merge";
import type { ClusterConfiguration, Configuration, Machine } from "./schema";
import { JUMP_HOST_KEY } from "./schema/secrets";

/** A kubeadm cluster on machines that exist and answer SSH. */
export function ssh(configuration: Configuration): Record<string, pulumi.Output<unknown>> {
  const { cluster, sshPrivateKey, sshPrivateKeys, registryCredentials } = configuration;
  const { kubeconfig, endpoints, nodes, version } = new KubeadmCluster(cluster.name, {
    version: cluster.version,
    machines: cluster.machines.map((machine) => machineArgs(machine, sshPrivateKeys)),
    ssh: { privateKey: sshPrivateKey, jumpHost: jumpHost(cluster, sshPrivateKeys) },
    source: source(cluster),
    endpoint: endpoint(cluster),
    network: { ...cluster.network, plugin: cluster.network.plugin as NetworkPlugin },
    lost: cluster.lost,
    allowEvenControlPlanes: cluster.allowEvenControlPlanes,
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
    rollout: rollout(cluster),
    timeouts: {
      ssh: cluster.timeouts.sshSeconds,
      dial: cluster.ssh.dialTimeoutSeconds,
      prepare: cluster.timeouts.prepareSeconds,
      init: cluster.timeouts.initSeconds,
      join: cluster.timeouts.joinSeconds,
      ready: cluster.timeouts.readySeconds,
    },
    bootstrapRevision: cluster.bootstrapRevision,
  });
  return { kubeconfig, endpoints, nodes, version };
}

function machineArgs(machine: Machine, privateKeys: pulumi.Output<Record<string, string>>): MachineArgs {
  return { ...machine, privateKey: privateKeys.apply((keys) => keys[machine.name]) as pulumi.Output<string> };
}

function jumpHost(
  { ssh: { jumpHost: host } }: ClusterConfiguration,
  privateKeys: pulumi.Output<Record<string, string>>,
): SshArgs["jumpHost"] {
  if (!host) return undefined;
  return { ...host, privateKey: privateKeys.apply((keys) => keys[JUMP_HOST_KEY]) as pulumi.Output<string> };
}

function source({ source: { bundle, packages } }: ClusterConfiguration): SoftwareSource | undefined {
  if (bundle?.path) return { bundle: { path: bundle.path } };
  if (bundle?.url && bundle.sha256) return { bundle: { url: bundle.url, sha256: bundle.sha256 } };
  return packages?.repository ? { packages: { repository: packages.repository } } : undefined;
}

function rollout({ rollout: { gate, stopAfter, ...others } }: ClusterConfiguration): RolloutArgs {
  return {
    ...others,
    ...(gate?.url ? { gate: { url: gate.url } } : {}),
    ...(gate?.command ? { gate: { command: gate.command } } : {}),
    ...(stopAfter ? { stopAfter } : {}),
  };
}

function endpoint({ endpoint: { loopback, external } }: ClusterConfiguration) {
  if (external) return { external };
  return loopback ? { loopback } : undefined;
}
