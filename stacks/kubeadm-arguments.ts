import type * as pulumi from "@pulumi/pulumi";
import type { ClusterOfCloudArgs } from "../components/kubeadm/kubeadm-cluster-args";
import { type KubeadmConfiguration, MACHINE_FIELDS } from "./schema";
import { JUMP_HOST_KEY } from "./schema/secrets";

/** Returns the arguments of a kubeadm cluster that do not depend on the system of its machines. */
export function kubeadmArguments({
  cluster,
  sshPrivateKey,
  sshPrivateKeys,
  registryCredentials,
  proxyCredentials,
}: KubeadmConfiguration): ClusterOfCloudArgs {
  const { jumpHost } = cluster.ssh;
  const jumpHostKey = sshPrivateKeys.apply((keys) => keys[JUMP_HOST_KEY]) as pulumi.Output<string>;
  const common = Object.entries(cluster).filter(([field]) => !MACHINE_FIELDS.includes(field));
  return {
    ...(Object.fromEntries(common) as ClusterOfCloudArgs),
    ssh: {
      ...cluster.ssh,
      privateKey: sshPrivateKey,
      ...(jumpHost && { jumpHost: { ...jumpHost, privateKey: jumpHostKey } }),
    },
    registries: { ...cluster.registries, credentials: registryCredentials },
    ...(cluster.proxy && { proxy: { ...cluster.proxy, credentials: proxyCredentials } }),
  };
}
