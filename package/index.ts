/**
 * What other Pulumi programs import from `foresail`: a kubeadm cluster on machines reachable over SSH, and objects of
 * any cluster. Each other system has an entry point of its own, so that a program loads only what it uses.
 */
export { KubeadmCluster } from "../components/kubeadm/kubeadm-cluster";
export type {
  ChartArgs,
  ChartValues,
  EndpointArgs,
  KubeadmClusterArgs,
  MachineArgs,
  NetworkPlugin,
  RolloutArgs,
  SshArgs,
} from "../components/kubeadm/kubeadm-cluster-args";
export type { Endpoint, SoftwareSource } from "../providers/kubeadm/plan/cluster/specification";
export type { NodeOutput } from "../providers/kubeadm/resources/declarations";
export { Adoption, type AdoptionArgs } from "../components/adoption";
export type {
  DesiredObject,
  /** @deprecated `DesiredObject` */
  DesiredObject as WishedObject,
} from "../providers/kubernetes/resources/object-resources";
export {
  ObjectReady,
  type ObjectReadyArgs,
  type ReadyObject,
} from "../providers/kubernetes/resources/object-resources";
// exported here since the first release; `foresail/machine-pool` loads nothing else
export * from "./machine-pool";
