import type * as pulumi from "@pulumi/pulumi";
import { KubeadmCluster } from "../components/kubeadm/kubeadm-cluster";
import { API_SERVER_PORT } from "../lib/validation/ports";
import type { EndpointArgs, MachineArgs } from "../components/kubeadm/kubeadm-cluster-args";
import { kubeadmArguments } from "./kubeadm-arguments";
import type { ClusterConfiguration, Machine, SshConfiguration } from "./schema";

/** Builds a stack of the system "ssh": a kubeadm cluster on existing machines with SSH. */
export function ssh(configuration: SshConfiguration): Record<string, pulumi.Output<unknown>> {
  const { cluster, sshPrivateKeys } = configuration;
  const { kubeconfig, endpoints, nodes, version } = new KubeadmCluster(cluster.name, {
    ...kubeadmArguments(configuration),
    machines: cluster.machines.map((machine) => machineArgs(machine, sshPrivateKeys)),
    endpoint: cluster.endpoint as EndpointArgs,
    loadBalancer: loadBalancer(cluster),
    lost: cluster.lost,
    allowEvenControlPlanes: cluster.allowEvenControlPlanes,
  });
  return { kubeconfig, endpoints, nodes, version };
}

function machineArgs(machine: Machine, privateKeys: pulumi.Output<Record<string, string>>): MachineArgs {
  return { ...machine, privateKey: privateKeys.apply((keys) => keys[machine.name]) as pulumi.Output<string> };
}

/**
 * Returns the load balancer for the kubeconfig. If any control plane has a separate `apiServer`, returns undefined,
 * because the nodes' load balancer may not be reachable from there.
 *
 * @returns host:port
 */
export function loadBalancer({ endpoint: { external }, machines }: ClusterConfiguration) {
  const isReached = machines.every(
    (machine) => machine.role === "worker" || machine.apiServer === `${machine.address}:${API_SERVER_PORT}`,
  );
  return external && isReached ? `${external.host}:${external.port}` : undefined;
}
