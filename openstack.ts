/** What other Pulumi programs import from foresail/openstack; apart, since the provider's package takes time to load. */
export { OpenstackCluster } from "./components/openstack/openstack-cluster";
export { readStackResources } from "./components/stack-resources";
export type {
  AccessArgs,
  CloudProviderArgs,
  ExistingNetworkArgs,
  NetworkArgs,
  OpenstackClusterArgs,
  OpenstackEndpointArgs,
  OwnNetworkArgs,
} from "./components/openstack/openstack-cluster-args";
export type { AntiAffinity, Pool, RootVolume } from "./providers/openstack/plan/pool";
