/** What other Pulumi programs import from foresail. */
export { KubeadmCluster } from "./components/kubeadm/kubeadm-cluster";
export type {
  ChartArgs,
  EndpointArgs,
  KubeadmClusterArgs,
  MachineArgs,
  NetworkPlugin,
  SshArgs,
} from "./components/kubeadm/kubeadm-cluster-args";
export type { Endpoint, SoftwareSource } from "./core/kubeadm/specification";
export type { NodeOutput } from "./providers/kubeadm/node-group";
export { MachinePool } from "./components/machine-pool/machine-pool";
export type {
  MachinePoolArgs,
  MachinePoolTimeouts,
  PoolObjectArgs,
} from "./components/machine-pool/machine-pool";
export { Adoption, type AdoptionArgs, type WishedObject } from "./providers/kubernetes/adoption";
export { ObjectReady, type ObjectReadyArgs, type ReadyObject } from "./providers/kubernetes/object-ready";
export type { PoolNode } from "./providers/machine-pool/pool-inputs";
