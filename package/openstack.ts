/** What other Pulumi programs import from `foresail/openstack`: a kubeadm cluster on OpenStack servers. */
export { OpenstackCluster } from "../components/openstack/openstack-cluster";
export type {
  AccessArgs,
  CloudChartArgs,
  CloudProviderArgs,
  ExistingNetworkArgs,
  NetworkArgs,
  OpenstackClusterArgs,
  OpenstackEndpointArgs,
  OwnNetworkArgs,
} from "../components/openstack/openstack-cluster-args";
export type { AntiAffinity, Pool, RootVolume } from "../providers/openstack/plan/machine";
