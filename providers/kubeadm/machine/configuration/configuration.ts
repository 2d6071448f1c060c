import { API_SERVER_PORT, ETCD_CLIENT_PORT, ETCD_PEER_PORT } from "../../../../lib/validation/ports";
import { stringify } from "yaml";
import { CONTROL_PLANE_TAINT, type Machine } from "../../plan/cluster/machine";
import { specificationOf } from "../../plan/cluster/pools";
import { mergeObjects, type JsonObject } from "../../../../lib/merge";
import { isUntainted } from "../../plan/membership/nodes";
import { NODE_PATHS } from "../../plan/cluster/node-paths";
import { DISCOVERY_FILE } from "../steps";
import { controlPlaneEndpoint, type ClusterSpecification } from "../../plan/cluster/specification";

/** Version of kubeadm's API. */
export const KUBEADM = "kubeadm.k8s.io/v1beta4";

/** Returns the text of a kubeadm configuration of several objects. */
export function documents(objects: readonly unknown[]): string {
  // kubeadm reads YAML 1.1, where an unquoted yes, off or 0777 is not a string
  return objects.map((object) => stringify(object, { lineWidth: 0, schema: "yaml-1.1" })).join("---\n");
}

/** Returns the host part of host:port, without the brackets of an IPv6 address. */
function hostOf(hostAndPort: string): string {
  return hostAndPort.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
}

/** Returns the names by which clients reach a control plane's API server, which its certificate must contain. */
export function certificateNames(machine: Pick<Machine, "name" | "internalAddress" | "apiServer">): string[] {
  return [machine.name, machine.internalAddress, hostOf(machine.apiServer)];
}

/**
 * Returns how the kubelet of one machine registers. Taints are part of it, so no pod is scheduled before.
 *
 * @param user the user's object, in which an empty list of taints stands for a control plane that runs pods
 */
function nodeRegistration(
  { ignorePreflightErrors }: ClusterSpecification,
  machine: Machine,
  user: JsonObject = {},
): JsonObject {
  const own = machine.role === "control-plane" && !isUntainted(user) ? [CONTROL_PLANE_TAINT] : [];
  return {
    name: machine.name,
    criSocket: "unix:///run/containerd/containerd.sock",
    taints: [...own, ...machine.taints].map((taint) => ({ ...taint })),
    kubeletExtraArgs: [{ name: "node-ip", value: machine.internalAddress }],
    ...(ignorePreflightErrors.length > 0 ? { ignorePreflightErrors } : {}),
  };
}

function apiServer(specification: ClusterSpecification, controlPlanes: Machine[]): JsonObject {
  const names = [...(specification.certificateNames ?? []), ...controlPlanes.flatMap(certificateNames)];
  const path = NODE_PATHS.encryption;
  const volume = { name: "foresail-encryption", hostPath: path, mountPath: path };
  const encryption = {
    extraArgs: [{ name: "encryption-provider-config", value: path }],
    extraVolumes: [{ ...volume, readOnly: true, pathType: "File" }],
  };
  return {
    certSANs: [...new Set(["127.0.0.1", ...names])],
    ...(specification.encryptSecretsAtRest ? encryption : {}),
  };
}

/**
 * Returns etcd's settings. kubeadm lets etcd listen only on the node's address. Where a cloud translates addresses,
 * packets arrive at the link's own address instead, so etcd has to listen on all addresses.
 */
function etcd(specification: ClusterSpecification): JsonObject {
  if (!specification.network.holdNodeAddress) return {};
  const extraArgs = [
    { name: "listen-client-urls", value: `https://0.0.0.0:${ETCD_CLIENT_PORT}` },
    { name: "listen-peer-urls", value: `https://0.0.0.0:${ETCD_PEER_PORT}` },
  ];
  return { etcd: { local: { extraArgs } } };
}

/** Returns kubeadm's ClusterConfiguration. Every control plane is in the certificate, and the user's own comes last. */
export function clusterConfiguration(
  specification: ClusterSpecification,
  controlPlanes: Machine[],
): JsonObject {
  const { name, version, endpoint, imageRepository, kubeadm } = specification;
  const { podCidr: podSubnet, serviceCidr: serviceSubnet, dnsDomain } = specification.network;
  const own = {
    apiVersion: KUBEADM,
    kind: "ClusterConfiguration",
    clusterName: name,
    kubernetesVersion: `v${version}`,
    controlPlaneEndpoint: controlPlaneEndpoint(endpoint),
    ...(imageRepository ? { imageRepository } : {}),
    networking: { podSubnet, serviceSubnet, dnsDomain },
    apiServer: apiServer(specification, controlPlanes),
    ...etcd(specification),
  };
  return mergeObjects(own, kubeadm.clusterConfiguration);
}

const localEndpoint = ({ internalAddress: advertiseAddress }: Machine) => ({
  localAPIEndpoint: { advertiseAddress, bindPort: API_SERVER_PORT },
});

/** Returns the whole configuration file for `kubeadm init` on one machine: kubeadm gets settings of its pool as a patch. */
export function initConfiguration(
  specification: ClusterSpecification,
  machine: Machine,
  controlPlanes: Machine[],
): string {
  const init: JsonObject = {
    apiVersion: KUBEADM,
    kind: "InitConfiguration",
    // init's own token is not used, since each join creates one
    bootstrapTokens: [{ ttl: "1m0s", description: "kubeadm init" }],
    nodeRegistration: nodeRegistration(specification, machine, specification.kubeadm.initConfiguration),
    ...localEndpoint(machine),
  };
  return documents([
    mergeObjects(init, specificationOf(specification, machine).kubeadm.initConfiguration),
    clusterConfiguration(specification, controlPlanes),
    mergeObjects(
      { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration", cgroupDriver: "systemd" },
      specification.kubelet,
    ),
    mergeObjects(
      { apiVersion: "kubeproxy.config.k8s.io/v1alpha1", kind: "KubeProxyConfiguration" },
      specification.kubeProxy,
    ),
  ]);
}

/**
 * Returns the configuration file for `kubeadm join` on one machine, with discovery by the file that comes with it.
 *
 * @param overlaps whether the join of another control plane has not ended
 */
export function joinConfiguration(
  specification: ClusterSpecification,
  machine: Machine,
  bootstrapToken: string,
  overlaps = false,
): string {
  const join = {
    apiVersion: KUBEADM,
    kind: "JoinConfiguration",
    // foresail has asked the other members, and one that is starting would keep kubeadm waiting
    ...(overlaps ? { skipPhases: ["check-etcd"] } : {}),
    discovery: { file: { kubeConfigPath: DISCOVERY_FILE }, tlsBootstrapToken: bootstrapToken },
    nodeRegistration: nodeRegistration(specification, machine, specification.kubeadm.joinConfiguration),
    ...(machine.role === "control-plane" ? { controlPlane: localEndpoint(machine) } : {}),
  };
  return documents([mergeObjects(join, specificationOf(specification, machine).kubeadm.joinConfiguration)]);
}

/** Returns the kubeconfig with which a joining machine finds the cluster: address and authority, no credentials. */
export function discoveryKubeconfig({ endpoint }: ClusterSpecification, authority: string): string {
  const server = `https://${controlPlaneEndpoint(endpoint)}`;
  const clusters = [{ name: "", cluster: { server, "certificate-authority-data": authority } }];
  return documents([{ apiVersion: "v1", kind: "Config", clusters, contexts: [], users: [] }]);
}
