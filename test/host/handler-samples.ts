import { DEFAULT_ANNOTATION_PATTERN } from "../../providers/kubeadm/plan/rollout/annotations";
import type { RolloutSettings } from "../../providers/kubeadm/plan/rollout/desired";
import type { HandlerKey } from "../../providers/handlers";
import { exampleMachine, exampleSpecification } from "../unit/providers/kubeadm/machine/examples";
import { UNKNOWN } from "../../lib/unknown";
import { TUMBLEBUG_SAMPLES } from "./tumblebug-samples";

/** What every resource of a cluster carries. */
export const common = {
  specification: exampleSpecification(),
  stack: "foresail/test",
  credentials: { privateKey: "key" },
  timeouts: { ssh: 1, prepare: 1, init: 1, join: 1, ready: 1 },
};
export const machines = ["cp-1", "cp-2", "cp-3", "w-1"].map((name) => exampleMachine(name));
export const controlPlanes = machines.slice(0, 3);

export const drain = { timeoutSeconds: 1, deleteEmptyDirData: false, force: false };
/** The defaults, with a deadline that tests can wait for. */
export const rollout: RolloutSettings = {
  annotations: DEFAULT_ANNOTATION_PATTERN,
  intermediateVersions: [],
  maxUnavailable: 1,
  pools: {},
  pausedNodes: [],
  soakSeconds: 0,
  nodeTimeoutSeconds: 5,
  software: {},
};

const azimuth = { kubeconfig: UNKNOWN, stack: "foresail/test", namespace: "az-demo", cluster: "demo" };

/** Arguments of each kind with which check and diff need no machine. */
export const SAMPLES: Record<HandlerKey, object> = {
  "kubeadm/HostKey": { machine: "w-1", address: "127.0.0.1", port: 1, credentials: {}, timeoutSeconds: 1 },
  "stack/StackIdentity": { stack: "organization/foresail/test" },
  "kubeadm/ClusterOwner": {
    ...common,
    machines,
    lost: [],
    owner: { id: UNKNOWN, stack: "organization/foresail/test" },
  },
  "kubeadm/ClusterInit": { ...common, machines },
  "kubeadm/AdminKubeconfig": { ...common, machines: UNKNOWN },
  "kubeadm/NodeGroup": {
    ...common,
    group: "workers",
    machines,
    controlPlanes,
    lost: [],
    kubeconfig: UNKNOWN,
  },
  "kubeadm/NodeRollout": { ...common, machines, rollout, drain, kubeconfig: UNKNOWN },
  "kubeadm/ReaderAccount": { ...common, kubeconfig: UNKNOWN, annotations: DEFAULT_ANNOTATION_PATTERN },
  "kubeadm/EncryptionKey": { ...common, machines: controlPlanes, kubeconfig: UNKNOWN },
  "kubeadm/LoopbackEndpoint": { ...common, machines },
  "kubeadm/NodeAgents": {
    ...common,
    machines,
    annotations: "alpha.[software].caos.ch",
    staged: { kubernetes: ["1.36.3"], software: {} },
  },
  "openstack/CloudPlan": {
    cluster: "demo",
    // a known server would be called
    cloud: UNKNOWN,
    servers: [],
    loadBalancer: false,
    floatingIps: 0,
    steps: [],
    arriving: [],
    leaving: [],
    later: [],
  },
  "openstack/ServerHostKey": {
    machine: "w-1",
    server: "s1",
    address: "127.0.0.1",
    port: 1,
    credentials: {},
    timeoutSeconds: 1,
  },
  ...TUMBLEBUG_SAMPLES,
  "openstack/InitializedMark": { ...common, machines, servers: {} },
  "kubernetes/Adoption": {
    // a known server would be called
    kubeconfig: UNKNOWN,
    stack: "foresail/test",
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "demo" }, data: { a: "b" } },
    timeoutSeconds: 1,
  },
  "kubernetes/ObjectReady": {
    kubeconfig: UNKNOWN,
    stack: "foresail/test",
    object: { apiVersion: "v1", kind: "ConfigMap", name: "demo" },
    wait: { fields: { a: "data.a" } },
    timeoutSeconds: 1,
  },
  "machine-pool/MachinePoolReady": {
    kubeconfig: UNKNOWN,
    stack: "foresail/test",
    apiVersion: "cluster.x-k8s.io/v1beta1",
    namespace: "demo",
    name: "pool-a",
    cluster: "demo",
    replicas: 3,
    template: { infrastructure: "SandboxMachinePool pool-a", rest: {} },
    timeouts: { bootstrap: 1, infrastructure: 1, nodes: 1 },
  },
  "azimuth/StatusStamp": { ...azimuth, moment: "start", fingerprint: "1" },
  "azimuth/ZenithKeypair": {
    ...azimuth,
    registrarAdminUrl: "http://127.0.0.1:1",
    owner: { apiVersion: "v1", kind: "ConfigMap", name: "demo", uid: "1" },
    timeoutSeconds: 1,
  },
  "azimuth/EtcdKey": azimuth,
  "azimuth/ServiceSync": { ...azimuth, hasRecord: true },
  "azimuth/RecordPrune": azimuth,
  "azimuth/ClusterReady": { ...azimuth, fingerprint: "1", timeoutSeconds: 1 },
  "azimuth/DestroyGuard": {
    ...azimuth,
    hasRecord: true,
    stackOwner: { id: UNKNOWN, stack: "organization/foresail/test" },
  },
  "azimuth/ClusterGone": { ...azimuth, timeoutSeconds: 1 },
  "helm/ReleaseRecovery": {
    kubeconfig: UNKNOWN,
    stack: "foresail/test",
    namespace: "az-demo",
    release: "demo",
    isRecorded: true,
    adopt: false,
  },
};
