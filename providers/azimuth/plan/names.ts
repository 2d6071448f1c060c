/** API groups with the version in use. */
export const API = {
  azimuth: "azimuth.stackhpc.com/v1alpha1",
  identity: "identity.azimuth.stackhpc.com/v1alpha1",
  scheduling: "scheduling.azimuth.stackhpc.com/v1alpha1",
  addons: "addons.stackhpc.com/v1alpha1",
  clusterApi: "cluster.x-k8s.io/v1beta1",
  controlPlane: "controlplane.cluster.x-k8s.io/v1beta1",
  zenith: "zenith.stackhpc.com/v1alpha1",
  flux: "kustomize.toolkit.fluxcd.io/v1",
} as const;

/** A cluster and its tenancy's namespace. */
export interface ClusterRef {
  namespace: string;
  cluster: string;
}

/** Returns the references to a cluster's objects, with the names that azimuth-capi-operator chooses. */
export function azimuthRefs({ namespace, cluster }: ClusterRef) {
  const secret = (name: string) => ({ apiVersion: "v1", kind: "Secret", namespace, name });
  return {
    record: { apiVersion: API.azimuth, kind: "Cluster", namespace, name: cluster },
    capiCluster: { apiVersion: API.clusterApi, kind: "Cluster", namespace, name: cluster },
    oidcClient: { apiVersion: API.identity, kind: "OIDCClient", namespace, name: `kube-${cluster}` },
    platform: { apiVersion: API.identity, kind: "Platform", namespace, name: `kube-${cluster}` },
    kubeconfig: secret(`${cluster}-kubeconfig`),
    userKubeconfig: secret(`${cluster}-kubeconfig-user`),
    etcdKey: secret(`${cluster}-etcd-key`),
    zenithKey: secret(`${cluster}-zenith-apiserver`),
    /** Files that contain the key. Only foresail has it; azimuth-capi-operator has the files in the values. */
    zenithFiles: secret(`${cluster}-zenith-files`),
  };
}

/** The software that installs the kinds of a group on a management cluster. */
export const INSTALLED_BY = {
  azimuth: "azimuth-capi-operator",
  identity: "azimuth-identity-operator",
  scheduling: "azimuth-schedule-operator",
  addons: "cluster-api-addon-provider",
  clusterApi: "Cluster API (clusterctl init)",
  controlPlane: "Cluster API's kubeadm control plane provider (clusterctl init)",
  zenith: "zenith-operator",
} as const;

/** Labels and annotations that identify objects. */
export const CLUSTER_LABEL = "capi.stackhpc.com/cluster";
export const COMPONENT_LABEL = "capi.stackhpc.com/component";
export const NODE_GROUP_LABEL = "capi.stackhpc.com/node-group";
export const ADDON_CLUSTER_LABEL = "addons.stackhpc.com/cluster";
export const RELEASE_NAME_LABEL = "addons.stackhpc.com/release-name";
export const RELEASE_NAMESPACE_LABEL = "addons.stackhpc.com/release-namespace";
export const TEMPLATE_LABEL = "azimuth.stackhpc.com/cluster-template";
export const MANAGED_BY_LABEL = "app.kubernetes.io/managed-by";
export const SERVICES_ANNOTATION = "azimuth.stackhpc.com/services";
export const SUBDOMAIN_ANNOTATION = "azimuth.stackhpc.com/zenith-subdomain";
export const FQDN_ANNOTATION = "azimuth.stackhpc.com/zenith-fqdn";

/** An object with labels and annotations. */
export interface Marked {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
}

/** Returns whether an object is a part of a cluster: by its label, or by an annotation of that name. */
export function isOf(cluster: string, { metadata: { labels, annotations } = {} }: Marked): boolean {
  return [labels, annotations].some((marks) => marks?.[CLUSTER_LABEL] === cluster);
}

/** The finalizer with which a consumer keeps a Lease: the schedule operator waits until it is removed. */
export const LEASE_FINALIZER = "azimuth.stackhpc.com";
