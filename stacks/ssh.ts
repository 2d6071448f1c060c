import type * as pulumi from "@pulumi/pulumi";
import { KubeadmCluster } from "../components/kubeadm/kubeadm-cluster";
import { ownStack, readStackOutputs } from "../lib/pulumi/stack";
import { isObject } from "../lib/json";
import { API_SERVER_PORT } from "../lib/validation/ports";
import type { EndpointArgs } from "../components/kubeadm/kubeadm-cluster-args";
import { kubeadmArguments } from "./kubeadm-arguments";
import type { ClusterInput, ConfigurationOf } from "./schema";
import { JUMP_HOST_KEY } from "./schema/secrets";

/** Builds a stack of the system "ssh": a kubeadm cluster on existing machines with SSH. */
export function ssh(configuration: ConfigurationOf<"ssh">): Record<string, pulumi.Output<unknown>> {
  const { cluster, sshPrivateKeys } = configuration;
  const { ssh: connection, ...args } = kubeadmArguments(configuration);
  const { kubeconfig, endpoints, nodes, version, certificatesExpire } = new KubeadmCluster(cluster.name, {
    ...args,
    ssh: { ...connection, privateKeys: sshPrivateKeys.apply(machineKeys) },
    machines: cluster.machines,
    endpoint: cluster.endpoint as EndpointArgs,
    nodesEndpoint: recordedNodesEndpoint,
    loadBalancer: loadBalancer(cluster),
    lost: cluster.lost,
  });
  return { kubeconfig, endpoints, nodes, version, certificatesExpire };
}

/** Returns the endpoint that nodes use, as the outputs of the stack's last run named it. */
async function recordedNodesEndpoint(): Promise<unknown> {
  const { endpoints } = (await readStackOutputs(ownStack()))?.outputs ?? {};
  return isObject(endpoints) ? endpoints.nodes : undefined;
}

function machineKeys({ [JUMP_HOST_KEY]: _, ...keys }: Record<string, string>): Record<string, string> {
  return keys;
}

/**
 * Returns the load balancer for the kubeconfig. If any control plane has a separate `apiServer`, returns undefined,
 * because the nodes' load balancer may not be reachable from there.
 *
 * @returns host:port
 */
export function loadBalancer({ endpoint: { external }, machines }: ClusterInput) {
  const isReached = machines.every(
    ({ role, address, apiServer = `${address}:${API_SERVER_PORT}` }) =>
      role === "worker" || apiServer === `${address}:${API_SERVER_PORT}`,
  );
  return external && isReached ? `${external.host}:${external.port}` : undefined;
}
