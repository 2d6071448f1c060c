import { refuses, type RefusedInputs } from "./issues";
import { cloudReader, cluster, OPENSTACK } from "./valid";

const init = (clusterConfiguration: unknown) => cluster({ kubeadm: { clusterConfiguration } });
const apiServer = (...extraArgs: unknown[]) => init({ apiServer: { extraArgs } });
const kubelet = (value: unknown, fields: Record<string, unknown> = {}) =>
  cluster({ kubelet: value, ...fields });
const plugin = (value: unknown, others: Record<string, unknown> = {}) =>
  cluster({ network: { podSubnet: "10.244.0.0/16", plugin: value }, ...others });
const mask = (value: string, fields: Record<string, unknown> = {}) =>
  cluster({
    kubeadm: {
      clusterConfiguration: { controllerManager: { extraArgs: [{ name: "node-cidr-mask-size", value }] } },
    },
    ...fields,
  });
const ARGS = "cluster.kubeadm.clusterConfiguration";
const MASK = `${ARGS}.controllerManager.extraArgs[0].value`;
const CILIUM = "cluster.network.plugin.cilium.values";
const CALICO = "cluster.network.plugin.calico.values.installation.calicoNetwork.ipPools";
const POD_BLOCK = "write 10.244.0.0/16, which is network.podSubnet, or a block of it";
const calico = (...ipPools: unknown[]) =>
  plugin({ calico: { values: { installation: { calicoNetwork: { ipPools } } } } });
const cilium = (values: unknown, others: Record<string, unknown> = {}) =>
  plugin({ cilium: { values } }, others);
const PROXY = { initConfiguration: { skipPhases: ["addon/kube-proxy"] } };

/** Wrong inputs by the class that they are of; each is refused with exactly this line. */
const TABLE: RefusedInputs = {
  "fields that Kubernetes would drop with a warning": [
    ['cluster.kubelet.maxPod: is not known; did you mean "maxPods"?', kubelet({ maxPod: 200 })],
    ['cluster.kubelet.max-pods: is not known; did you mean "maxPods"?', kubelet({ "max-pods": 200 })],
    [
      'cluster.kubelet.authentication.anonymous.enable: is not known; did you mean "enabled"?',
      kubelet({ authentication: { anonymous: { enable: false } } }),
    ],
    [
      'cluster.kubelet.memorySwap.swapBehaviour: is not known; did you mean "swapBehavior"?',
      kubelet({ memorySwap: { swapBehaviour: "LimitedSwap" } }),
    ],
    [
      'cluster.kubeProxy.ipvs.strictArp: is not known; did you mean "strictARP"?',
      cluster({ kubeProxy: { mode: "ipvs", ipvs: { strictArp: true } } }),
    ],
    [
      `${ARGS}.apiServer.extraVolumes[0].readonly: is not known; did you mean "readOnly"?`,
      init({
        apiServer: { extraVolumes: [{ name: "a", hostPath: "/a", mountPath: "/a", readonly: true }] },
      }),
    ],
    [
      'cluster.kubelet.maxPod: is not known; did you mean "maxPods"?',
      cloudReader("openstack", OPENSTACK, { kubelet: { maxPod: 200 } }),
    ],
  ],
  "values of another type, which Kubernetes refuses on the machine": [
    [
      "cluster.kubelet.maxPods: is a string; write a whole number, without quotes",
      kubelet({ maxPods: "200" }),
    ],
    ["cluster.kubelet.maxPods: is a number; write a whole number, without quotes", kubelet({ maxPods: 1.5 })],
    [
      "cluster.kubelet.serverTLSBootstrap: is a string; write true or false, without quotes",
      kubelet({ serverTLSBootstrap: "true" }),
    ],
    [
      "cluster.kubelet.streamingConnectionIdleTimeout: is a number; write a text, in quotes",
      kubelet({ streamingConnectionIdleTimeout: 300 }),
    ],
    ["cluster.kubelet.clusterDNS: is a string; write a list of texts", kubelet({ clusterDNS: "10.96.0.10" })],
    [
      "cluster.kubeProxy.conntrack.maxPerCore: is a string; write a whole number, without quotes",
      cluster({ kubeProxy: { conntrack: { maxPerCore: "0" } } }),
    ],
  ],
  "fields of an earlier kubeadm, or of another object": [
    [
      `${ARGS}.apiServer.timeoutForControlPlane: is timeouts.controlPlaneComponentHealthCheck of initConfiguration and joinConfiguration in v1beta4; write it there`,
      init({ apiServer: { timeoutForControlPlane: "8m0s" } }),
    ],
    [`${ARGS}.useHyperKubeImage: is not in v1beta4; remove it`, init({ useHyperKubeImage: true })],
    [
      `${ARGS}.nodeRegistration: is not known here; it is a field of cluster.kubeadm.initConfiguration and cluster.kubeadm.joinConfiguration`,
      init({ nodeRegistration: { taints: [] } }),
    ],
    [`${ARGS}.maxPods: is not known here; it is a field of cluster.kubelet`, init({ maxPods: 200 })],
  ],
  "fields and arguments of other versions": [
    [
      "cluster.kubelet.memoryReservationPolicy: is not a field of Kubernetes 1.35.4, only of other versions; remove it",
      kubelet({ memoryReservationPolicy: "HardReservation" }, { version: "1.35.4" }),
    ],
    [
      'cluster.kubeadm.joinConfiguration.nodeRegistration.kubeletExtraArgs[0].name: "pod-infra-container-image" is not an argument of kubelet 1.36.3, only of other versions; remove it',
      cluster({
        kubeadm: {
          joinConfiguration: {
            nodeRegistration: { kubeletExtraArgs: [{ name: "pod-infra-container-image", value: "a" }] },
          },
        },
      }),
    ],
  ],
  "arguments that a program does not have": [
    [
      `${ARGS}.apiServer.extraArgs[0].name: "featureGates" is not an argument of kube-apiserver; did you mean "feature-gates"?`,
      apiServer({ name: "featureGates", value: "A=true" }),
    ],
    [
      `${ARGS}.apiServer.extraArgs[0].name: "insecure-port" is not an argument of kube-apiserver; did you mean "secure-port"?`,
      apiServer({ name: "insecure-port", value: "0" }),
    ],
    [
      `${ARGS}.controllerManager.extraArgs[0].name: "pod-eviction-timeout" is not an argument of kube-controller-manager; remove it`,
      init({ controllerManager: { extraArgs: [{ name: "pod-eviction-timeout", value: "1m" }] } }),
    ],
  ],
  "arguments that contradict a field, or belong to one machine": [
    [
      `${ARGS}.apiServer.extraArgs[0].name: "service-cluster-ip-range" contradicts network.serviceSubnet; write it there`,
      apiServer({ name: "service-cluster-ip-range", value: "10.0.0.0/16" }),
    ],
    [
      `${ARGS}.apiServer.extraArgs[0].name: "secure-port" contradicts the port of every API server, which the endpoint, kubeadm and health checks use; remove it, and use endpoint.external.port for another port of the load balancer`,
      apiServer({ name: "secure-port", value: "16443" }),
    ],
    [
      `${ARGS}.apiServer.extraArgs[0].name: "encryption-provider-config" contradicts encryptSecretsAtRest; remove it, or write encryptSecretsAtRest: false`,
      apiServer({ name: "encryption-provider-config", value: "/etc/kubernetes/pki/own.yaml" }),
    ],
    [
      `${ARGS}.apiServer.extraArgs[0].name: "etcd-servers" contradicts the etcd that foresail runs on the control planes; remove it`,
      apiServer({ name: "etcd-servers", value: "https://192.0.2.31:2379" }),
    ],
    ...["false", "False", "0"].map((value): [string, Record<string, unknown>] => [
      `${ARGS}.apiServer.extraArgs[0].name: "anonymous-auth" would refuse the health checks of the kubelet and of load balancers; remove it, and write profile: cis, or an AuthenticationConfiguration in files whose anonymous.conditions allow /livez, /readyz, /healthz, with the argument authentication-config`,
      apiServer({ name: "anonymous-auth", value }),
    ]),
    [
      `${ARGS}.controllerManager.extraArgs[0].name: "cluster-cidr" contradicts network.podSubnet; write it there`,
      init({ controllerManager: { extraArgs: [{ name: "cluster-cidr", value: "10.1.0.0/16" }] } }),
    ],
    [
      `${ARGS}.etcd.local.extraArgs[0].name: "data-dir" contradicts etcd.local.dataDir, whose folder kubeadm mounts; write it there`,
      init({ etcd: { local: { extraArgs: [{ name: "data-dir", value: "/data" }] } } }),
    ],
    [
      'cluster.kubeadm.initConfiguration.nodeRegistration.kubeletExtraArgs[0].name: "node-ip" belongs to one machine, and this is for all of them; use the internalAddress of the machine',
      cluster({
        kubeadm: {
          initConfiguration: {
            nodeRegistration: { kubeletExtraArgs: [{ name: "node-ip", value: "192.0.2.9" }] },
          },
        },
      }),
    ],
  ],
  "values for which the kubelet ends at its start": [
    [
      'cluster.kubelet.systemReserved.memory: "900GB" is not a quantity; write e.g. "500m" or "1Gi"',
      kubelet({ systemReserved: { memory: "900GB" } }),
    ],
    [
      'cluster.kubelet.kubeReserved.cpu: "-1" is negative; write e.g. "500m" or "1Gi"',
      kubelet({ kubeReserved: { cpu: "-1" } }),
    ],
    [
      "cluster.kubelet.systemReserved.hugepages: is not known; known are cpu, memory, ephemeral-storage, pid",
      kubelet({ systemReserved: { hugepages: "1Gi" } }),
    ],
    [
      'cluster.kubelet.evictionHard["memory.avail"]: is not known; did you mean "memory.available"?',
      kubelet({ evictionHard: { "memory.avail": "100Mi" } }),
    ],
    [
      'cluster.kubelet.evictionHard["nodefs.available"]: "110%" is not from "0%" to "100%"',
      kubelet({ evictionHard: { "nodefs.available": "110%" } }),
    ],
    [
      'cluster.kubelet.evictionHard["memory.available"]: "0" is zero; write "0%" for no limit',
      kubelet({ evictionHard: { "memory.available": "0" } }),
    ],
    [
      'cluster.kubelet.evictionSoftGracePeriod["memory.available"]: is missing, and evictionSoft has it; write e.g. "1m30s"',
      kubelet({ evictionSoft: { "memory.available": "200Mi" } }),
    ],
    [
      "cluster.kubelet.oomScoreAdj: -5000 is not allowed; write a number, from -1000 to 1000",
      kubelet({ oomScoreAdj: -5000 }),
    ],
    ["cluster.kubelet.maxPods: -1 is not allowed; write a number, 0 or more", kubelet({ maxPods: -1 })],
    [
      'cluster.kubelet.topologyManagerPolicy: "bestEffort" is not known; did you mean "best-effort"?',
      kubelet({ topologyManagerPolicy: "bestEffort" }),
    ],
    [
      "cluster.kubelet.imageGCHighThresholdPercent: imageGCLowThresholdPercent 80 must be less than imageGCHighThresholdPercent 75",
      kubelet({ imageGCHighThresholdPercent: 75 }),
    ],
  ],
  "masks of nodes that do not fit the pods": [
    [`${MASK}: is not the prefix of an IPv4 block; write a number of at most 30, in quotes`, mask("large")],
    [
      `${MASK}: a /15 of each node is larger than network.podSubnet "10.244.0.0/16"; write a larger number`,
      mask("15"),
    ],
    [
      `${MASK}: a /26 of each node has 62 addresses for 110 pods; write a smaller number, or kubelet.maxPods: 62`,
      mask("26"),
    ],
    [
      'cluster.network.podSubnet: "10.244.0.0/16" has room for 1 nodes (a /16 each) and there are 2 machines; write a larger block',
      mask("16"),
    ],
    [
      'cluster.network.podSubnet: "10.244.0.0/25" is too small: each node takes a /24; write e.g. a /16',
      cluster({ network: { podSubnet: "10.244.0.0/25" } }),
    ],
  ],
  "pools of a plugin outside of the pods' block": [
    [`${CALICO}[0].cidr: is missing; ${POD_BLOCK}`, calico({ encapsulation: "VXLAN" })],
    [
      `${CALICO}[0].cidr: "192.168.0.0/16" is not in the block of the pods; ${POD_BLOCK}`,
      calico({ cidr: "192.168.0.0/16" }),
    ],
    [
      `${CALICO}[0].blockSize: must be the prefix of blocks in "10.244.0.0/20"; write a number from 20 to 32`,
      calico({ cidr: "10.244.0.0/20", blockSize: 18 }),
    ],
    [
      `${CILIUM}.ipam.operator.clusterPoolIPv4PodCIDRList[0]: "192.0.2.0/24" is not in the block of the pods; ${POD_BLOCK}`,
      cilium({ ipam: { mode: "cluster-pool", operator: { clusterPoolIPv4PodCIDRList: ["192.0.2.0/24"] } } }),
    ],
    [
      `${CILIUM}.ipam.operator.clusterPoolIPv4PodCIDRList: is missing; ${POD_BLOCK}`,
      cilium({ ipam: { mode: "cluster-pool" } }),
    ],
    [
      'cluster.network.plugin.flannel.values.podCidr: "10.42.0.0/16" is not network.podSubnet "10.244.0.0/16"; remove it, foresail writes it',
      plugin({ flannel: { values: { podCidr: "10.42.0.0/16" } } }),
    ],
  ],
  "Cilium without kube-proxy and without the API server's address": [
    [
      `${CILIUM}.k8sServicePort: is missing: without kube-proxy, Cilium finds no API server; write the host and port of the endpoint (of endpoint.loopback: 127.0.0.1 and its port)`,
      cilium({ kubeProxyReplacement: true, k8sServiceHost: "127.0.0.1" }, { kubeadm: PROXY }),
    ],
  ],
};

refuses(TABLE);
