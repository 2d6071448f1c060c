/** The desired cluster, as in the spec of an Azimuth Cluster (group azimuth.stackhpc.com, v1alpha1). */
export interface ClusterSpecification {
  /** The name that users see. */
  label: string;
  /** Name of a ClusterTemplate. */
  templateName: string;
  /** Secret with `clouds.yaml`, in the cluster's namespace. */
  cloudCredentialsSecretName: string;
  /** Realm in the cluster's namespace; default: the first one. */
  zenithIdentityRealmName?: string;
  /** Lease in the cluster's namespace. */
  leaseName?: string;
  /** Whether machines that stay unhealthy are replaced. */
  autohealing: boolean;
  /** Flavor of the control planes, by name. */
  controlPlaneMachineSize: string;
  nodeGroups: NodeGroup[];
  addons: ClusterAddons;
}

export interface NodeGroup {
  name: string;
  /** Flavor of its machines, by name. */
  machineSize: string;
  autoscale: boolean;
  /** For a group without autoscaling. */
  count?: number;
  /** For a group with autoscaling. */
  minCount?: number;
  maxCount?: number;
}

export interface ClusterAddons {
  ingress: boolean;
  /** IPv4 address. */
  ingressControllerLoadBalancerIp?: string;
  monitoring: boolean;
  /** Sizes of volumes, in GB. */
  monitoringAlertmanagerVolumeSize: number;
  monitoringPrometheusVolumeSize: number;
  monitoringLokiVolumeSize: number;
}
