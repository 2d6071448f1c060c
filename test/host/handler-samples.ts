import type { HandlerKey } from "../../providers/dynamic-resource";
import { exampleMachine, exampleSpecification } from "../unit/kubeadm/examples";
import { UNKNOWN } from "./provider-host";

/** What every resource of a cluster carries. */
export const common = {
  specification: exampleSpecification(),
  credentials: { privateKey: "key" },
  timeouts: { ssh: 1, prepare: 1, init: 1, join: 1, ready: 1 },
};
export const machines = ["cp-1", "cp-2", "cp-3", "w-1"].map((name) => exampleMachine(name));
export const controlPlanes = machines.slice(0, 3);

/** Arguments of each kind with which check and diff need no machine. */
export const SAMPLES: Record<HandlerKey, object> = {
  "kubeadm/HostKey": { machine: "w-1", address: "127.0.0.1", port: 1, credentials: {}, timeoutSeconds: 1 },
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
  "kubeadm/LoopbackEndpoint": { ...common, machines },
  "kubeadm/NodeAgents": {
    ...common,
    machines,
    annotations: "alpha.[software].caos.ch",
    staged: { kubernetes: ["1.36.3"], software: {} },
  },
};
