/** The cluster that is wished for, as the spec of an Azimuth Cluster has it (group azimuth.stackhpc.com, v1alpha1). */
export interface ClusterSpecification {
  /** What people see. */
  label: string;
  /** Name of a ClusterTemplate. */
  templateName: string;
  /** Secret with `clouds.yaml`, in the cluster's namespace. */
  cloudCredentialsSecretName: string;
  /** Realm in the cluster's namespace; when absent, the first there is. */
  zenithIdentityRealmName?: string;
  /** Lease in the cluster's namespace. */
  leaseName?: string;
  /** Whether machines that stay unhealthy are replaced. */
  autohealing: boolean;
  /** Flavour of the control planes, by name. */
  controlPlaneMachineSize: string;
  nodeGroups: NodeGroup[];
  addons: ClusterAddons;
}

export interface NodeGroup {
  name: string;
  /** Flavour of its machines, by name. */
  machineSize: string;
  autoscale: boolean;
  /** Of a group that does not scale by itself. */
  count?: number;
  /** Of a group that does. */
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
