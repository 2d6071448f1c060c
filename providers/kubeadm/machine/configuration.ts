import { API_SERVER_PORT, ETCD_CLIENT_PORT, ETCD_PEER_PORT } from "../../../lib/validation/ports";
import { stringify } from "yaml";
import { CONTROL_PLANE_TAINT, type Machine } from "../plan/machine";
import { mergeObjects, type Json, type JsonObject } from "../../../lib/merge";
import { NODE_PATHS } from "../plan/node-paths";
import { DISCOVERY_FILE } from "./steps";
import { controlPlaneEndpoint, type ClusterSpecification } from "../plan/specification";

const KUBEADM = "kubeadm.k8s.io/v1beta4";

function documents(objects: JsonObject[]): string {
  // kubeadm reads YAML 1.1, where an unquoted yes, off or 0777 is not a string
  return objects.map((object) => stringify(object, { lineWidth: 0, schema: "yaml-1.1" })).join("---\n");
}

/** Returns the host part of host:port, without the brackets of an IPv6 address. */
function hostOf(hostAndPort: string): string {
  return hostAndPort.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
}

/** Returns the names by which clients reach a control plane's API server, which its certificate must contain. */
export function certificateNames({
  name,
  internalAddress,
  apiServer,
}: Pick<Machine, "name" | "internalAddress" | "apiServer">): string[] {
  return [name, internalAddress, hostOf(apiServer)];
}

/**
 * Returns how the kubelet of one machine registers. Taints are part of the registration, so no pod is scheduled before.
 */
function nodeRegistration(specification: ClusterSpecification, machine: Machine): JsonObject {
  const taints = [
    ...(machine.role === "control-plane" ? [{ ...CONTROL_PLANE_TAINT }] : []),
    ...machine.taints.map((taint) => ({ ...taint })),
  ];
  return {
    name: machine.name,
    criSocket: "unix:///run/containerd/containerd.sock",
    taints,
    kubeletExtraArgs: [{ name: "node-ip", value: machine.internalAddress }],
    ...(specification.ignorePreflightErrors.length > 0
      ? { ignorePreflightErrors: specification.ignorePreflightErrors }
      : {}),
  };
}

function apiServer(specification: ClusterSpecification, controlPlanes: Machine[]): JsonObject {
  const certSANs = [
    "127.0.0.1",
    ...(specification.certificateNames ?? []),
    ...controlPlanes.flatMap(certificateNames),
  ];
  const encryption: JsonObject = specification.encryptSecretsAtRest
    ? {
        extraArgs: [{ name: "encryption-provider-config", value: NODE_PATHS.encryption }],
        extraVolumes: [
          {
            name: "foresail-encryption",
            hostPath: NODE_PATHS.encryption,
            mountPath: NODE_PATHS.encryption,
            readOnly: true,
            pathType: "File",
          },
        ],
      }
    : {};
  return { certSANs: [...new Set(certSANs)], ...encryption };
}

/**
 * Returns etcd's settings. kubeadm lets etcd listen only on the node's address. Where a cloud translates addresses,
 * packets arrive at the link's own address instead, so etcd has to listen on all addresses.
 */
function etcd(specification: ClusterSpecification): JsonObject {
  const own = specification.kubeadm.clusterConfiguration?.["etcd"] as JsonObject | undefined;
  if (!specification.network.holdNodeAddress || own?.["external"] !== undefined) return {};
  const extraArgs = [
    { name: "listen-client-urls", value: `https://0.0.0.0:${ETCD_CLIENT_PORT}` },
    { name: "listen-peer-urls", value: `https://0.0.0.0:${ETCD_PEER_PORT}` },
  ];
  return { etcd: { local: { extraArgs } } };
}

/**
 * Returns kubeadm's ClusterConfiguration (v1beta4), with the user's own merged last.
 *
 * @param controlPlanes all control planes: each is in the certificate of the API server that it may become
 */
export function clusterConfiguration(
  specification: ClusterSpecification,
  controlPlanes: Machine[],
): JsonObject {
  const { network, version, endpoint, imageRepository } = specification;
  return mergeObjects(
    {
      apiVersion: KUBEADM,
      kind: "ClusterConfiguration",
      clusterName: specification.name,
      kubernetesVersion: `v${version}`,
      controlPlaneEndpoint: controlPlaneEndpoint(endpoint),
      ...(imageRepository ? { imageRepository } : {}),
      networking: {
        podSubnet: network.podCidr,
        serviceSubnet: network.serviceCidr,
        dnsDomain: network.dnsDomain,
      },
      apiServer: apiServer(specification, controlPlanes),
      ...etcd(specification),
    },
    specification.kubeadm.clusterConfiguration,
  );
}

/** Returns the whole configuration file for `kubeadm init` on one machine. */
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
    nodeRegistration: nodeRegistration(specification, machine),
    localAPIEndpoint: { advertiseAddress: machine.internalAddress, bindPort: API_SERVER_PORT },
  };
  return documents([
    mergeObjects(init, specification.kubeadm.initConfiguration),
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

/** Returns the configuration file for `kubeadm join` on one machine, with discovery by the file that comes with it. */
export function joinConfiguration(
  specification: ClusterSpecification,
  machine: Machine,
  bootstrapToken: string,
): string {
  const controlPlane: Json = {
    localAPIEndpoint: { advertiseAddress: machine.internalAddress, bindPort: API_SERVER_PORT },
  };
  return documents([
    mergeObjects(
      {
        apiVersion: KUBEADM,
        kind: "JoinConfiguration",
        discovery: { file: { kubeConfigPath: DISCOVERY_FILE }, tlsBootstrapToken: bootstrapToken },
        nodeRegistration: nodeRegistration(specification, machine),
        ...(machine.role === "control-plane" ? { controlPlane } : {}),
      },
      specification.kubeadm.joinConfiguration,
    ),
  ]);
}

/**
 * Returns the kubeconfig with which a joining machine finds the cluster: address and certificate authority, no
 * credentials.
 */
export function discoveryKubeconfig(
  specification: ClusterSpecification,
  certificateAuthority: string,
): string {
  return documents([
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: "",
          cluster: {
            server: `https://${controlPlaneEndpoint(specification.endpoint)}`,
            "certificate-authority-data": certificateAuthority,
          },
        },
      ],
      contexts: [],
      users: [],
    },
  ]);
}
