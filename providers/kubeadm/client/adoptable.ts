import { type ClusterAccess, KubernetesClient, type Node } from "../../../lib/kubernetes";
import type { AdoptableCluster, AdoptableNode, KubeadmObjects } from "../plan/adoption/adoption-facts";
import { CRI_SOCKET, staticPodsOf } from "../plan/adoption/adoptable-cluster";
import { CONTROL_PLANE_LABEL } from "../plan/cluster/machine";
import { withoutV } from "../plan/rollout/observed";
import { readOwner } from "./owner-record";
import { readKubeadmObject } from "./kubeadm-object";

/** How long the API of a cluster to adopt may take to answer. */
const API_SECONDS = 20;

/** Reads the Nodes and what kubeadm stores in the cluster. Only reads. @throws KubernetesUnreachable */
export async function readAdoptable(access: ClusterAccess): Promise<AdoptableCluster> {
  const kubernetes = await KubernetesClient.connect(access, { seconds: API_SECONDS, readsOnly: true });
  try {
    const [nodes, owner, objects, pods] = await Promise.all([
      kubernetes.listNodes(),
      readOwner(kubernetes),
      readKubeadmObjects(kubernetes),
      kubernetes.listPods({ namespace: "kube-system" }),
    ]);
    const systemPods = pods.flatMap(({ metadata }) => metadata?.name ?? []);
    return {
      ...(owner ? { owner } : {}),
      nodes: nodes.map(adoptableNode),
      systemPods,
      staticPods: staticPodsOf(pods),
      ...objects,
    };
  } finally {
    kubernetes.close();
  }
}

function adoptableNode({ metadata, status }: Node): AdoptableNode {
  const labels = metadata?.labels ?? {};
  const socket = metadata?.annotations?.[CRI_SOCKET];
  const {
    machineID = "",
    containerRuntimeVersion = "",
    kubeletVersion = "",
  } = (status?.nodeInfo ?? {}) as {
    machineID?: string;
    containerRuntimeVersion?: string;
    kubeletVersion?: string;
  };
  return {
    name: metadata?.name ?? "",
    machineId: machineID,
    internalAddress: status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "",
    controlPlane: CONTROL_PLANE_LABEL in labels,
    roles: Object.keys(labels).flatMap((key) => /^node-role\.kubernetes\.io\/(.+)$/.exec(key)?.[1] ?? []),
    version: withoutV(kubeletVersion),
    runtime: containerRuntimeVersion,
    ...(socket === undefined ? {} : { socket }),
  };
}

/** Reads what kubeadm stores in the cluster. */
export async function readKubeadmObjects(kubernetes: KubernetesClient): Promise<KubeadmObjects> {
  const [clusterConfiguration, kubelet, kubeProxy] = await Promise.all([
    readKubeadmObject(kubernetes, "kubeadm-config", "ClusterConfiguration"),
    readKubeadmObject(kubernetes, "kubelet-config", "kubelet"),
    readKubeadmObject(kubernetes, "kube-proxy", "config.conf"),
  ]);
  return {
    ...(clusterConfiguration ? { clusterConfiguration } : {}),
    ...(kubelet ? { kubelet } : {}),
    ...(kubeProxy ? { kubeProxy } : {}),
  };
}
