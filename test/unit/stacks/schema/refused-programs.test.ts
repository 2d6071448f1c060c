import assert from "node:assert/strict";
import { issuesOf, refuses, type RefusedInputs } from "./issues";
import { cluster, controlPlane, reader } from "./valid";
import { proxyValueIssues } from "../../../../providers/kubeadm/plan/validation/proxy-values";

type Fields = Record<string, unknown>;
type Argument = [name: string, value: string];

const init = (clusterConfiguration: Fields) => cluster({ kubeadm: { clusterConfiguration } });
const ini = (initConfiguration: Fields) => cluster({ kubeadm: { initConfiguration } });
const kubelet = (fields: Fields) => cluster({ kubelet: fields });
const proxy = (kubeProxy: Fields) => cluster({ kubeProxy });
const listOf = (...list: Argument[]) => ({ extraArgs: list.map(([name, value]) => ({ name, value })) });
const api = (...list: Argument[]) => init({ apiServer: listOf(...list) });
const cm = (...list: Argument[]) => init({ controllerManager: listOf(...list) });
const volumes = (...extraVolumes: Fields[]) => init({ apiServer: { extraVolumes } });
const staticMemory = (fields: Fields) => kubelet({ memoryManagerPolicy: "Static", ...fields });
const onCloud = (version: string, value: string) =>
  cluster({
    version,
    kubeadm: {
      joinConfiguration: {
        nodeRegistration: { kubeletExtraArgs: [{ name: "cloud-provider", value }] },
      },
    },
  });
const PLANES = ["cp-1", "cp-2", "cp-3"].map((name, index) =>
  controlPlane({ name, address: `192.0.2.1${index + 1}` }),
);
const etcd = (...list: Argument[]) => init({ etcd: { local: listOf(...list) } });

/** Values that a program refuses, or leaves out without a word; each is refused with exactly this line. */
const TABLE: RefusedInputs = {
  "a field with which the kubelet ends, or that it leaves out": [
    [
      'cluster.kubelet.clusterDNS[0]: "10.96.0" is not an address; write e.g. "10.96.0.10"',
      kubelet({ clusterDNS: ["10.96.0"] }),
    ],
    [
      "cluster.kubelet.maxParallelImagePulls: needs serializeImagePulls: false, which is true; remove one",
      kubelet({ maxParallelImagePulls: 5, serializeImagePulls: true }),
    ],
    [
      'cluster.kubelet.allowedUnsafeSysctls[0]: "kernel shm" is not a sysctl; write e.g. "net.core.*"',
      kubelet({ allowedUnsafeSysctls: ["kernel shm"] }),
    ],
    [
      "cluster.kubelet.userNamespaces.idsPerPod: 10 is not a multiple of 65536",
      kubelet({ userNamespaces: { idsPerPod: 10 } }),
    ],
    [
      'cluster.kubelet.crashLoopBackOff.maxContainerRestartPeriod: "1h" is not from "1s" to "300s"',
      kubelet({ crashLoopBackOff: { maxContainerRestartPeriod: "1h" } }),
    ],
  ],
  "a field with which kube-proxy ends": [
    [
      "cluster.kubeProxy.iptables.masqueradeBit: 99 is not allowed; write a number, from 0 to 31",
      proxy({ iptables: { masqueradeBit: 99 } }),
    ],
    [
      "cluster.kubeProxy.iptables.minSyncPeriod: is longer than syncPeriod, and kube-proxy does not start; write a shorter one",
      proxy({ iptables: { syncPeriod: "1s", minSyncPeriod: "10s" } }),
    ],
    [
      'cluster.kubeProxy.bindAddress: "localhost" is not an address; write e.g. "0.0.0.0"',
      proxy({ bindAddress: "localhost" }),
    ],
    [
      "cluster.kubeProxy.oomScoreAdj: 5000 is not allowed; write a number, from -1000 to 1000",
      proxy({ oomScoreAdj: 5000 }),
    ],
  ],
  "an argument with which the API server ends": [
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "32767-30000" is not a range of ports; write e.g. "30000-32767"',
      api(["service-node-port-range", "32767-30000"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "ABAC2" is not known; did you mean "ABAC"?',
      api(["authorization-mode", "Node,RBAC,ABAC2"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "RBAC" is without Node, so that no kubelet could register; write "Node,RBAC"',
      api(["authorization-mode", "RBAC"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "-1" is not a whole number',
      api(["max-requests-inflight", "-1"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "http://x.example.com" is not an https URL, which the API server demands; write e.g. "https://login.example.com"',
      api(["oidc-issuer-url", "http://x.example.com"], ["oidc-client-id", "a"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].name: "oidc-client-id" needs "oidc-issuer-url", too, or the API server does not start; add it',
      api(["oidc-client-id", "a"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "verbose" is not a whole number',
      api(["v", "verbose"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "0.5" is not from "0" to "0.02"',
      api(["goaway-chance", "0.5"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "A:true" is not NAME=true or NAME=false; separate several by commas',
      api(["feature-gates", "A:true"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "pods=100" is not RESOURCE#SIZE; write e.g. "pods#100"',
      api(["watch-cache-sizes", "pods=100"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: "etcd2" is not known; did you mean "etcd3"?',
      api(["storage-backend", "etcd2"]),
    ],
  ],
  "memory that the policy Static keeps free, and that is not what is reserved": [
    [
      "cluster.kubelet.reservedMemory: has 1024Mi of memory, and systemReserved, kubeReserved and evictionHard have 1636Mi; memoryManagerPolicy: Static needs as much, write limits: {memory: 1636Mi}",
      staticMemory({
        ...{ systemReserved: { memory: "512Mi" }, kubeReserved: { memory: "1Gi" } },
        reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi" } }],
      }),
    ],
    [
      "cluster.kubelet.reservedMemory: has 0Mi of memory, and systemReserved, kubeReserved and evictionHard have 100Mi; memoryManagerPolicy: Static needs as much, write limits: {memory: 100Mi}",
      staticMemory({ evictionHard: {} }),
    ],
  ],
  "fields of the kubelet that exclude or need each other": [
    [
      "cluster.kubelet.cgroupsPerQOS: is false, and the kubelet enforces the limits of pods; write enforceNodeAllocatable: [none], too",
      kubelet({ cgroupsPerQOS: false }),
    ],
    [
      'cluster.kubelet.imageMaximumGCAge: is not longer than imageMinimumGCAge, which is "2m" unless you write it; write a longer one',
      kubelet({ imageMaximumGCAge: "1m" }),
    ],
  ],
  "a volume with which no kubelet runs the pod": [
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraVolumes[0].name: "A_b" is not a DNS label; write lower-case letters, digits and dashes, with a letter or digit at both ends',
      volumes({ name: "A_b", hostPath: "/a", mountPath: "/b" }),
    ],
    [
      "cluster.kubeadm.clusterConfiguration.apiServer.extraVolumes[0].hostPath: is missing; write a path of the machine",
      volumes({ name: "a", mountPath: "/b" }),
    ],
    [
      "cluster.kubeadm.clusterConfiguration.apiServer.extraVolumes[0].mountPath: is missing; write a path in the pod",
      volumes({ name: "a", hostPath: "/b" }),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraVolumes[0].hostPath: "/a/../b" has "..", which no kubelet takes; write the whole path',
      volumes({ name: "a", hostPath: "/a/../b", mountPath: "/b" }),
    ],
  ],
  "a volume at the path of another one": [
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraVolumes[1].mountPath: "/x" is that of the volume "a", too, and no kubelet runs such a pod; write another path, or one volume',
      volumes({ name: "a", hostPath: "/a", mountPath: "/x" }, { name: "b", hostPath: "/b", mountPath: "/x" }),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraVolumes[0].mountPath: "/etc/ssl/certs" is that of the volume "ca-certs", too, and no kubelet runs such a pod; write another path, or one volume',
      volumes({ name: "own", hostPath: "/a", mountPath: "/etc/ssl/certs" }),
    ],
  ],
  "a cloud that a kubelet does not have": [
    [
      'cluster.kubeadm.joinConfiguration.nodeRegistration.kubeletExtraArgs[0].value: "aws" is a cloud that no kubelet has; write "external", and install the cloud\'s controller',
      onCloud("1.33.6", "aws"),
    ],
  ],
  "an argument with which another program ends": [
    [
      'cluster.kubeadm.clusterConfiguration.controllerManager.extraArgs[0].value: "deploymnet" is not known; did you mean "deployment"?',
      cm(["controllers", "*,-deploymnet"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.controllerManager.extraArgs[0].value: "route" is not a controller of Kubernetes 1.37.2, only of other versions; remove it',
      { ...cm(["controllers", "*,-route"]), version: "1.37.2" },
    ],
    [
      'cluster.kubeadm.clusterConfiguration.controllerManager.extraArgs[0].value: " ttl" has a space; write commas without spaces',
      cm(["controllers", "*, ttl"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.controllerManager.extraArgs[0].value: "localhost" is not an address; write e.g. "127.0.0.1"',
      cm(["bind-address", "localhost"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.etcd.local.extraArgs[0].value: "100ms" is not a number of milliseconds without a unit',
      etcd(["heartbeat-interval", "100ms"]),
    ],
    [
      "cluster.kubeadm.clusterConfiguration.etcd.local.extraArgs[1].value: election-timeout 500 must be 5 times heartbeat-interval 1000 or more, or etcd does not start",
      etcd(["heartbeat-interval", "1000"], ["election-timeout", "500"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.etcd.local.extraArgs[0].value: "8GB" is not a number of bytes without a unit',
      etcd(["quota-backend-bytes", "8GB"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.etcd.local.extraArgs[0].value: "hourly" is not known; known are periodic, revision',
      etcd(["auto-compaction-mode", "hourly"]),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.etcd.local.extraArgs[0].value: "-1" is not a whole number',
      etcd(["snapshot-count", "-1"]),
    ],
    [
      'cluster.kubeadm.initConfiguration.patches.directory: "patches" is not absolute; start it with "/"',
      ini({ patches: { directory: "patches" } }),
    ],
  ],
};

refuses(TABLE);

describe("configuration: accepts", () => {
  const accepted: Record<string, Fields> = {
    "arguments at the ends of their ranges": api(
      ["authorization-mode", "Node,RBAC"],
      ["service-node-port-range", "30000-32767"],
      ["goaway-chance", "0.02"],
      ["watch-cache-sizes", "pods#100,nodes#0"],
      ["v", "4"],
      ["audit-policy-file", "/etc/kubernetes/pki/policy.yaml"],
    ),
    "controllers by their names of now and of before": cm([
      "controllers",
      "*,bootstrapsigner,-node-ipam-controller,-route",
    ]),
    "controllers of a version that is not known": { ...cm(["controllers", "*,-own"]), version: "1.38.0" },
    "control planes that elect no leader": { ...cm(["leader-elect", "false"]), machines: PLANES },
    "schedulers that elect no leader": {
      ...init({ scheduler: listOf(["leader-elect", "false"]) }),
      machines: PLANES,
    },
    "an own volume in the place of kubeadm's": volumes({
      ...{ name: "ca-certs", hostPath: "/own", mountPath: "/etc/ssl/certs" },
    }),
    "a cloud that newer kubelets do not read": onCloud("1.36.3", "aws"),
    "a cloud with a controller of its own": onCloud("1.33.6", "external"),
    "free memory that is what is reserved": staticMemory({
      ...{ systemReserved: { memory: "412Mi" }, kubeReserved: { memory: "0.5Gi" } },
      reservedMemory: [
        { numaNode: 0, limits: { memory: "512Mi" } },
        { numaNode: 1, limits: { memory: "512Mi" } },
      ],
    }),
    "another folder for the audit log of a profile": {
      ...volumes({ name: "foresail-audit-log", hostPath: "/mnt/audit" }),
      profile: "cis",
    },
    "fields that a patch of kubeadm may replace": {
      ...kubelet({ cgroupsPerQOS: false }),
      kubeadm: { initConfiguration: { patches: { directory: "/etc/patches" } } },
    },
    "fields that an argument of the kubelet replaces": {
      ...kubelet({ cgroupsPerQOS: false }),
      kubeadm: {
        initConfiguration: {
          nodeRegistration: { kubeletExtraArgs: [{ name: "enforce-node-allocatable", value: "" }] },
        },
      },
    },
    "a time that an argument of the kubelet changes": {
      ...kubelet({ imageMaximumGCAge: "1m" }),
      kubeadm: {
        initConfiguration: {
          nodeRegistration: {
            kubeletExtraArgs: [{ name: "minimum-image-ttl-duration", value: "10s" }],
          },
        },
      },
    },
    "free memory beside a share of the machine": staticMemory({
      evictionHard: { "memory.available": "5%" },
      reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi" } }],
    }),
    "etcd's times of a slow disk": etcd(["heartbeat-interval", "500"], ["election-timeout", "5000"]),
  };
  for (const [what, input] of Object.entries(accepted))
    it(what, () => assert.deepEqual(issuesOf(reader(input)), []));

  it("settings of kube-proxy whose other fields others wrote", () => {
    const fields = { detectLocalMode: "BridgeInterface", iptables: { syncPeriod: "-1s" } };
    assert.deepEqual(proxyValueIssues(fields, { isWhole: false }), []);
    assert.equal(proxyValueIssues(fields).length, 2);
  });
});
