import type { Program } from "./program";

/** The version of Cluster API whose MachinePool controller the sandbox and the tests run. */
export const CLUSTER_API_VERSION = "1.7.1";

const MODULE = "sigs.k8s.io/cluster-api";

/** The kinds of which the manager's controllers need to be served; a file of the module each. */
const CRDS = [
  "addons.cluster.x-k8s.io_clusterresourcesetbindings.yaml",
  "addons.cluster.x-k8s.io_clusterresourcesets.yaml",
  "cluster.x-k8s.io_clusterclasses.yaml",
  "cluster.x-k8s.io_clusters.yaml",
  "cluster.x-k8s.io_machinedeployments.yaml",
  "cluster.x-k8s.io_machinehealthchecks.yaml",
  "cluster.x-k8s.io_machinepools.yaml",
  "cluster.x-k8s.io_machines.yaml",
  "cluster.x-k8s.io_machinesets.yaml",
  "ipam.cluster.x-k8s.io_ipaddressclaims.yaml",
  "ipam.cluster.x-k8s.io_ipaddresses.yaml",
  "runtime.cluster.x-k8s.io_extensionconfigs.yaml",
];

/** Cluster API's core manager, which is published as an image only, with the definitions of its kinds beside it. */
export const clusterApi: Program = {
  name: "cluster-api",
  version: CLUSTER_API_VERSION,
  title: `Cluster API ${CLUSTER_API_VERSION}, its core manager`,
  folder: `programs/cluster-api-${CLUSTER_API_VERSION}`,
  files: ["manager", ...CRDS],
  downloads: [],
  builds: [
    {
      module: "cluster-api",
      packages: { manager: MODULE },
      ldflags: `-s -w -X ${MODULE}/version.gitVersion=v${CLUSTER_API_VERSION}`,
      beside: { module: MODULE, files: CRDS.map((file) => `config/crd/bases/${file}`) },
    },
  ],
};
