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
