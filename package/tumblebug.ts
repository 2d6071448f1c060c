/** What other Pulumi programs import from `foresail/tumblebug`: a kubeadm cluster on VMs that CB-Tumblebug creates. */
export { TumblebugCluster } from "../components/tumblebug/tumblebug-cluster";
export type {
  AccessArgs,
  ServerArgs,
  TumblebugClusterArgs,
  TumblebugEndpointArgs,
} from "../components/tumblebug/tumblebug-cluster-args";
export type { MachineGroup } from "../providers/tumblebug/plan/groups";
export type { MachineVm } from "../providers/tumblebug/plan/model";
export type { ClusterStatus } from "../providers/tumblebug/plan/recorded-state";
