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
export type { Endpoint, SoftwareSource } from "./providers/kubeadm/plan/specification";
export type { NodeOutput } from "./providers/kubeadm/resources/node-group";
export { MachinePool } from "./components/machine-pool/machine-pool";
export type {
  MachinePoolArgs,
  MachinePoolTimeouts,
  PoolObjectArgs,
} from "./components/machine-pool/machine-pool";
export {
  Adoption,
  type AdoptionArgs,
  type DesiredObject as WishedObject,
} from "./providers/kubernetes/resources/adoption";
export {
  ObjectReady,
  type ObjectReadyArgs,
  type ReadyObject,
} from "./providers/kubernetes/resources/object-ready";
export type { PoolNode } from "./providers/machine-pool/resources/pool-inputs";
