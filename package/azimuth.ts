/** What other Pulumi programs import from `foresail/azimuth`: a cluster through Azimuth, and its parts. */
export { AzimuthCluster } from "../components/azimuth/azimuth-cluster";
export type {
  AzimuthClusterArgs,
  ChartSource,
  IdentityArgs,
  TenancyArgs,
  TenancyObjectArgs,
} from "../components/azimuth/azimuth-cluster-args";
export {
  Lease,
  type LeaseArgs,
  OidcClient,
  Platform,
  Realm,
  type RealmArgs,
  type RealmObjectArgs,
  type RealmStatus,
} from "../components/azimuth/tenancy-objects";
export {
  ZenithApiServer,
  type ZenithApiServerArgs,
  ZenithOperator,
  type ZenithOperatorArgs,
} from "../components/azimuth/zenith";
export type { OidcIssuer, PolicyRule } from "../providers/azimuth/plan/cluster-values";
export type {
  ClusterAddons,
  AzimuthSpec as ClusterSpecification,
  GroupSpec as NodeGroup,
} from "../providers/azimuth/plan/objects";
export type { ZenithSettings } from "../providers/azimuth/plan/zenith-values";
export type { OwnerRef as Owner } from "../providers/kubernetes/plan/adoption";
