/** What other Pulumi programs import from `foresail/azimuth`: a cluster through Azimuth, and its parts. */
export { AzimuthCluster } from "../components/azimuth/azimuth-cluster";
export type {
  AzimuthClusterArgs,
  ChartSource,
  IdentityArgs,
} from "../components/azimuth/azimuth-cluster-args";
export type { ClusterAddons, ClusterSpecification, NodeGroup } from "../providers/azimuth/plan/objects";
export type { PolicyRule } from "../providers/azimuth/plan/cluster-values";
export type { ZenithSettings } from "../providers/azimuth/plan/zenith-values";
