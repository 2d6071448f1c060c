import { stringify } from "yaml";
import type { simulatedFixture } from "./simulated-fixture";

type Fixture = ReturnType<typeof simulatedFixture>;

/** Fields of a stack that adopts the cluster. */
export const ADOPTED = {
  adopt: true,
  encryptSecretsAtRest: false,
  network: { plugin: { none: {} } },
  endpoint: { external: { host: "10.90.1.1", port: 6443 } },
};
const RUNTIME = {
  containerRuntimeVersion: "containerd://1.7.2",
  operatingSystem: "linux",
  architecture: "amd64",
};

/** What the administrator configured. */
export const MADE_WITH = {
  apiVersion: "kubeadm.k8s.io/v1beta4",
  kubernetesVersion: "v1.36.3",
  apiServer: { extraArgs: [{ name: "profiling", value: "true" }] },
  scheduler: {},
};
export const KUBE_PROXY = { kind: "KubeProxyConfiguration", mode: "iptables", oomScoreAdj: null };
export const KUBELET = { kind: "KubeletConfiguration", maxPods: 120 };

/** The API server runs beside the simulated machines, whose ports open only when foresail makes a control plane. */
export const administratorsPlane = ({ api }: Fixture) => ({
  name: "cp-1",
  apiServer: `127.0.0.1:${api.port}`,
});

/** Makes a cluster that an administrator made with kubeadm: cp-1 and w-1 are its members, and no other machine is. */
export async function makeAdministratorsCluster({ kubernetes, fleet }: Fixture): Promise<void> {
  const blank = { prepared: false, member: false, apiServerRuns: false, controlPlane: false };
  const settings = { kubelet: stringify(KUBELET) };
  fleet.files.saveState("cp-1", { ...blank, foreign: true, controlPlane: true, settings });
  fleet.files.saveState("w-1", { ...blank, foreign: true, settings });
  for (const [name, address, labels] of [
    ["cp-1", "10.90.1.1", { "node-role.kubernetes.io/control-plane": "" }],
    ["w-1", "10.90.2.1", { disk: "ssd" }],
  ] as const)
    await kubernetes.create({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels },
      status: {
        addresses: [{ type: "InternalIP", address }],
        conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
        nodeInfo: { kubeletVersion: "v1.36.3", machineID: name, ...RUNTIME },
      },
    });
  const networking = {
    podSubnet: "10.244.0.0/16",
    serviceSubnet: "10.96.0.0/12",
    dnsDomain: "cluster.local",
  };
  for (const [name, data] of [
    ["kubeadm-config", { ClusterConfiguration: stringify({ ...MADE_WITH, networking }) }],
    ["kubelet-config", { kubelet: stringify(KUBELET) }],
    ["kube-proxy", { "config.conf": stringify(KUBE_PROXY), "kubeconfig.conf": "theirs" }],
  ] as const)
    await kubernetes.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace: "kube-system" },
      data,
    });
  await kubernetes.create(kubeProxyDaemonSet());
}

/** The DaemonSet of kube-proxy, as kubeadm installs it. */
function kubeProxyDaemonSet() {
  const labels = { "k8s-app": "kube-proxy" };
  const container = {
    name: "kube-proxy",
    image: "registry.k8s.io/kube-proxy:v1.36.3",
    command: ["/usr/local/bin/kube-proxy", "--config=/var/lib/kube-proxy/config.conf"],
    volumeMounts: [{ name: "kube-proxy", mountPath: "/var/lib/kube-proxy" }],
  };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "kube-proxy", namespace: "kube-system" },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [container],
          volumes: [{ name: "kube-proxy", configMap: { name: "kube-proxy" } }],
        },
      },
    },
  };
}
