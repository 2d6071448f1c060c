import type * as pulumi from "@pulumi/pulumi";
import type { ClusterOnArgs } from "../components/kubeadm/cluster-on-machines";
import type { KubeadmConfiguration } from "./schema";
import { JUMP_HOST_KEY } from "./schema/secrets";

/** Returns the arguments of a kubeadm cluster that do not depend on the system of its machines. */
export function kubeadmArguments({
  cluster,
  sshPrivateKey,
  sshPrivateKeys,
  registryCredentials,
  proxyCredentials,
}: KubeadmConfiguration): ClusterOnArgs {
  const { name: _name, machines: _machines, endpoint: _endpoint, lost: _lost, ...settings } = cluster;
  const { jumpHost, ...ssh } = cluster.ssh;
  const jumpHostKey = sshPrivateKeys.apply((keys) => keys[JUMP_HOST_KEY]) as pulumi.Output<string>;
  return {
    ...settings,
    ssh: {
      ...ssh,
      privateKey: sshPrivateKey,
      jumpHost: jumpHost && { ...jumpHost, privateKey: jumpHostKey },
    },
    registries: { ...cluster.registries, credentials: registryCredentials },
    proxy: cluster.proxy && { ...cluster.proxy, credentials: proxyCredentials },
  } as ClusterOnArgs;
}
