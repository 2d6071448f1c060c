import assert from "node:assert/strict";
import { parseDuration } from "../../../../providers/kubeadm/plan/validation/field-values";
import { issuesOf, refuses } from "./issues";
import { cluster, reader } from "./valid";

type Fields = Record<string, unknown>;
const kubelet = (fields: Fields) => cluster({ kubelet: fields });
const proxy = (fields: Fields) => cluster({ kubeProxy: fields });
const kubeadm = (object: "cluster" | "init" | "join", fields: Fields) =>
  cluster({ kubeadm: { [`${object}Configuration`]: fields } });
const manager = (...extraArgs: [string, string][]) =>
  kubeadm("cluster", {
    controllerManager: { extraArgs: extraArgs.map(([name, value]) => ({ name, value })) },
  });
const sysctl = (path: string, content: string) => cluster({ files: [{ path, content }] });
const plugin = (name: string, values: Fields) => cluster({ network: { plugin: { [name]: { values } } } });
const pools = (ipPools: unknown) => plugin("calico", { installation: { calicoNetwork: { ipPools } } });
const multiPool = (pools: Fields) =>
  plugin("cilium", { ipam: { mode: "multi-pool", operator: { autoCreateCiliumPodIPPools: pools } } });

const K = "cluster.kubelet";
const P = "cluster.kubeProxy";
const C = "cluster.kubeadm.clusterConfiguration";
const ARGUMENTS = `${C}.controllerManager.extraArgs`;
const CILIUM = "cluster.network.plugin.cilium.values";
const POOLS = "cluster.network.plugin.calico.values.installation.calicoNetwork.ipPools";
const DURATION = 'is not a duration; write e.g. "90s", "1m30s" or "8760h"';
const ONE_MACHINE = "belongs to one machine, and this is for all of them; remove it";

refuses({
  "durations that Go does not read": [
    [
      `${K}.evictionPressureTransitionPeriod: "5 min" ${DURATION}`,
      kubelet({ evictionPressureTransitionPeriod: "5 min" }),
    ],
    [`${K}.imageMinimumGCAge: "2d" ${DURATION}`, kubelet({ imageMinimumGCAge: "2d" })],
    [
      `${K}.authentication.webhook.cacheTTL: "2" ${DURATION}`,
      kubelet({ authentication: { webhook: { cacheTTL: "2" } } }),
    ],
    [`${P}.iptables.syncPeriod: "30" ${DURATION}`, proxy({ iptables: { syncPeriod: "30" } })],
    [
      `${C}.certificateValidityPeriod: "1y" ${DURATION}`,
      kubeadm("cluster", { certificateValidityPeriod: "1y" }),
    ],
    [
      `cluster.kubeadm.initConfiguration.timeouts.discovery: "5min" ${DURATION}`,
      kubeadm("init", { timeouts: { discovery: "5min" } }),
    ],
  ],
  "words that a program does not know": [
    [`${P}.mode: "userspace" is not known; known are iptables, ipvs, nftables`, proxy({ mode: "userspace" })],
    [`${P}.mode: "IPVS" is not known; did you mean "ipvs"?`, proxy({ mode: "IPVS" })],
    [
      `${P}.detectLocalMode: "clusterCIDR" is not known; did you mean "ClusterCIDR"?`,
      proxy({ detectLocalMode: "clusterCIDR" }),
    ],
    [
      `${K}.logging.format: "jsn" is not known; did you mean "json"?`,
      kubelet({ logging: { format: "jsn" } }),
    ],
    [
      `${K}.authorization.mode: "webhook" is not known; did you mean "Webhook"?`,
      kubelet({ authorization: { mode: "webhook" } }),
    ],
    [
      `${K}.cgroupDriver: "system" is not known; did you mean "systemd"?`,
      kubelet({ cgroupDriver: "system" }),
    ],
    [
      `${C}.apiServer.extraVolumes[0].pathType: "Dir" is not known; known are DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice, BlockDevice`,
      kubeadm("cluster", {
        apiServer: { extraVolumes: [{ name: "a", hostPath: "/a", mountPath: "/a", pathType: "Dir" }] },
      }),
    ],
    [
      `${C}.apiServer.extraVolumes[0].hostPath: "etc/a" is not absolute; start it with "/"`,
      kubeadm("cluster", {
        apiServer: { extraVolumes: [{ name: "a", hostPath: "etc/a", mountPath: "/a" }] },
      }),
    ],
    [
      'cluster.kubeadm.initConfiguration.skipPhases[0]: "addon/kubeproxy" is not known; did you mean "addon/kube-proxy"?',
      kubeadm("init", { skipPhases: ["addon/kubeproxy"] }),
    ],
    [
      'cluster.kubeadm.joinConfiguration.nodeRegistration.taints[0].effect: "NoSchedul" is not known; did you mean "NoSchedule"?',
      kubeadm("join", { nodeRegistration: { taints: [{ key: "a", effect: "NoSchedul" }] } }),
    ],
  ],
  "settings that the kernel does not take, or that no pod works with": [
    [
      'cluster.files[0].content: "net.core.somaxconn 4096" is not a setting of the kernel; write key = value',
      sysctl("/etc/sysctl.d/10-own.conf", "# own\nnet.core.somaxconn 4096"),
    ],
    ...["net.ipv4.ip_forward = 0", "-net/bridge/bridge-nf-call-iptables=0"].flatMap((line) =>
      ["/etc/sysctl.d/99-own.conf", "/etc/sysctl.conf"].map((path): [string, Fields] => [
        `cluster.files[0].content: "${line}" takes the network from all pods; remove the line`,
        sysctl(path, line),
      ]),
    ),
  ],
  "files that the pod of a program does not have": [
    [
      `${C}.apiServer.extraArgs[0].value: "/etc/kubernetes/audit.yaml" is in no volume of this program, which does not start without it; add one with that mountPath under extraVolumes, and write the file with cluster.files`,
      kubeadm("cluster", {
        apiServer: { extraArgs: [{ name: "audit-policy-file", value: "/etc/kubernetes/audit.yaml" }] },
      }),
    ],
    [
      `${C}.scheduler.extraArgs[0].value: "/etc/kubernetes/pki/config.yaml" is in no volume of this program, which does not start without it; add one with that mountPath under extraVolumes, and write the file with cluster.files`,
      kubeadm("cluster", {
        scheduler: { extraArgs: [{ name: "config", value: "/etc/kubernetes/pki/config.yaml" }] },
      }),
    ],
  ],
  "arguments that etcd does not have": [
    [
      `${C}.etcd.local.extraArgs[0].name: "auto-compaction-retentoin" is not an argument of etcd; did you mean "auto-compaction-retention"?`,
      kubeadm("cluster", {
        etcd: { local: { extraArgs: [{ name: "auto-compaction-retentoin", value: "8h" }] } },
      }),
    ],
    [
      `${C}.etcd.local.extraArgs[0].name: "experimental-initial-corrupt-check" is not an argument of the etcd of Kubernetes 1.37.2, only of other versions; remove it`,
      cluster({
        version: "1.37.2",
        kubeadm: {
          clusterConfiguration: {
            etcd: { local: { extraArgs: [{ name: "experimental-initial-corrupt-check", value: "true" }] } },
          },
        },
      }),
    ],
  ],
  "addresses of kube-proxy that are none": [
    [
      `${P}.nodePortAddresses[0]: "192.0.2.5" is not a block; write e.g. "192.0.2.0/24"`,
      proxy({ nodePortAddresses: ["192.0.2.5"] }),
    ],
    [
      `${P}.metricsBindAddress: "0.0.0.0:x" is not an address; write e.g. "0.0.0.0:10249"`,
      proxy({ metricsBindAddress: "0.0.0.0:x" }),
    ],
  ],
  "fields that belong to one machine, or to the containerd of foresail": [
    [`${K}.providerID: ${ONE_MACHINE}`, kubelet({ providerID: "aws:///a" })],
    [`${P}.hostnameOverride: ${ONE_MACHINE}`, proxy({ hostnameOverride: "a" })],
    [
      `${K}.containerRuntimeEndpoint: "unix:///run/crio/crio.sock" is not known; known are unix:///run/containerd/containerd.sock, unix:///var/run/containerd/containerd.sock`,
      kubelet({ containerRuntimeEndpoint: "unix:///run/crio/crio.sock" }),
    ],
  ],
  "values of the kubelet that exclude each other": [
    [
      `${K}.reservedSystemCPUs: "0-" is not a list of CPUs; write e.g. "0-3,8"`,
      kubelet({ reservedSystemCPUs: "0-" }),
    ],
    [
      `${K}.reservedSystemCPUs: "3-1" is not a list of CPUs; write e.g. "0-3,8"`,
      kubelet({ reservedSystemCPUs: "3-1" }),
    ],
    [
      `${K}.cpuManagerPolicy: "static" needs CPUs that are reserved; write reservedSystemCPUs, or cpu under kubeReserved or systemReserved`,
      kubelet({ cpuManagerPolicy: "static" }),
    ],
    [
      `${K}.kubeReservedCgroup: is missing, and enforceNodeAllocatable has kube-reserved; write the control group, which must exist on each machine`,
      kubelet({ enforceNodeAllocatable: ["pods", "kube-reserved"] }),
    ],
    [
      `${K}.shutdownGracePeriodCriticalPods: is longer than shutdownGracePeriod, of which it is a part; write a shorter one`,
      kubelet({ shutdownGracePeriod: "30s", shutdownGracePeriodCriticalPods: "1m" }),
    ],
    [
      `${K}.containerLogMaxFiles: 1 is not allowed; write a number, 2 or more`,
      kubelet({ containerLogMaxFiles: 1 }),
    ],
  ],
  "masks that leave nodes or pods without addresses": [
    [
      `${K}.maxPods: is 500, and each node has 254 addresses for pods (a /24); write at most 254, or the argument node-cidr-mask-size of the controller manager with a smaller number`,
      kubelet({ maxPods: 500 }),
    ],
    [
      `${ARGUMENTS}[0].name: "node-cidr-mask-size-ipv6" is for pods with IPv6 addresses, and network.podSubnet is IPv4; remove it`,
      manager(["node-cidr-mask-size-ipv6", "64"]),
    ],
    [
      `${ARGUMENTS}[1].name: "node-cidr-mask-size-ipv4" and "node-cidr-mask-size" exclude each other; remove one`,
      manager(["node-cidr-mask-size", "25"], ["node-cidr-mask-size-ipv4", "25"]),
    ],
    [
      `${ARGUMENTS}[0].name: "allocate-node-cidrs" would leave nodes without a block of network.podSubnet, which the network plugin gives to pods; remove it`,
      manager(["allocate-node-cidrs", "False"]),
    ],
  ],
  "values of a plugin with which pods get no address of the cluster": [
    [
      `${CILIUM}.ipv4NativeRoutingCIDR: is missing, and Cilium with routingMode: native does not start without it; write 10.244.0.0/16`,
      plugin("cilium", { routingMode: "native" }),
    ],
    [
      `${CILIUM}.ipv4NativeRoutingCIDR: "10.0.0.0/16" does not contain network.podSubnet "10.244.0.0/16", so that Cilium would translate the addresses of pods; write it, or a larger block`,
      plugin("cilium", { ipv4NativeRoutingCIDR: "10.0.0.0/16" }),
    ],
    [
      `${CILIUM}.ipam.operator.autoCreateCiliumPodIPPools: is missing, so that pods would get no address; write {default: {ipv4: {cidrs: [10.244.0.0/16], maskSize: 27}}}`,
      multiPool({}),
    ],
    [
      `${CILIUM}.ipam.operator.autoCreateCiliumPodIPPools.default.ipv4.cidrs[0]: "10.10.0.0/16" is not in the block of the pods; write 10.244.0.0/16, which is network.podSubnet, or a block of it`,
      multiPool({ default: { ipv4: { cidrs: ["10.10.0.0/16"], maskSize: 27 } } }),
    ],
    [
      `${POOLS}: is empty, so that pods would get no address; remove it, foresail writes 10.244.0.0/16`,
      pools([]),
    ],
    [`${POOLS}: is not a list; write a list of pools, each with its cidr`, pools({ cidr: "10.244.0.0/16" })],
    [
      `${POOLS}[1].cidr: overlaps another pool, which Calico refuses; write blocks apart from each other`,
      pools([{ cidr: "10.244.0.0/17" }, { cidr: "10.244.0.0/16" }]),
    ],
  ],
});

describe("configuration: values of Kubernetes' objects", () => {
  it("are accepted as programs read them", () => {
    const good = [
      kubelet({
        shutdownGracePeriod: "1h1m1.5s",
        shutdownGracePeriodCriticalPods: "10s",
        syncFrequency: "0",
      }),
      kubelet({ cpuManagerPolicy: "static", reservedSystemCPUs: "0-1" }),
      kubelet({ cpuManagerPolicy: "static", kubeReserved: { cpu: "500m" } }),
      kubelet({ enforceNodeAllocatable: ["pods"], logging: { format: "json" }, providerID: "" }),
      proxy({ mode: "nftables", nodePortAddresses: ["primary"], metricsBindAddress: "[::]:10249" }),
      proxy({ mode: "", ipvs: { scheduler: "wlc", excludeCIDRs: ["192.0.2.0/24", "2001:db8::/32"] } }),
      kubeadm("init", { skipPhases: ["addon/coredns"], timeouts: { etcdAPICall: "2m" } }),
      cluster({ kubelet: { maxPods: 500 }, network: { plugin: { calico: {} } } }),
      pools([{ cidr: "10.244.0.0/17" }, { cidr: "10.244.128.0/17" }, { cidr: "2001:db8::/64" }]),
      multiPool({ default: { ipv4: { cidrs: ["10.244.0.0/16"], maskSize: 27 } } }),
      plugin("cilium", { routingMode: "native", ipv4NativeRoutingCIDR: "10.0.0.0/8" }),
    ];
    for (const value of good) assert.deepEqual(issuesOf(reader(value)), [], JSON.stringify(value));
  });

  it("may leave kube-proxy out in both ways, for which Cilium then needs the API's address", () => {
    const settings = (fields: Fields) => cluster({ ...fields, network: { plugin: { cilium: {} } } });
    for (const fields of [
      { kubeadm: { clusterConfiguration: { proxy: { disabled: true } } } },
      { kubeadm: { initConfiguration: { skipPhases: ["addon/kube-proxy"] } } },
    ])
      assert.match(
        issuesOf(reader(settings(fields))).join("\n"),
        /k8sServiceHost: is missing: without kube-proxy/,
      );
  });

  it("are refused by name where the field is one that every object inherits", () => {
    const unknown = { toString: "a", constructor: "b" };
    for (const value of [kubelet(unknown), proxy(unknown), kubeadm("cluster", unknown)]) {
      const [first = "", second = "", ...others] = issuesOf(reader(value));
      assert.match(first, /\.toString: is not known; known are /);
      assert.match(second, /\.constructor: is not known; known are /);
      assert.deepEqual(others, []);
    }
  });

  it("have durations in seconds", () => {
    assert.deepEqual(
      ["1h1m1.5s", "-90s", "0", "100ms", "9\u03bcs", ".5m", "5", "1d", "", "s"].map(parseDuration),
      [3661.5, -90, 0, 0.1, 9e-6, 30, undefined, undefined, undefined, undefined],
    );
  });
});
