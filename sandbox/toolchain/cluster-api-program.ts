import type { Program } from "./program";

/** The version of Cluster API whose MachinePool controller the sandbox and the tests run. */
const CLUSTER_API_VERSION = "1.7.1";
/** A version that serves `v1beta2` beside `v1beta1`. */
const NEWER_CLUSTER_API_VERSION = "1.14.2";

const MODULE = "sigs.k8s.io/cluster-api";

/** The kinds that the manager's controllers need; one file of the module each. */
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

/** Where a release has its manager and definitions. */
interface Layout {
  /** The folder below modules/. */
  readonly module: string;
  readonly crds: readonly string[];
  /** The package of the manager, relative to Cluster API's module: its root, or "/core" since 1.14. */
  readonly manager: "" | "/core";
}

/** Cluster API's core manager, which is published as an image only, with the definitions of its kinds beside it. */
function coreManager(name: string, version: string, { module, crds, manager }: Layout): Program {
  return {
    name,
    version,
    title: `Cluster API ${version}, its core manager`,
    folder: `programs/cluster-api-${version}`,
    files: ["manager", ...crds],
    downloads: [],
    builds: [
      {
        module,
        packages: { manager: `${MODULE}${manager}` },
        ldflags: `-s -w -X ${MODULE}/version.gitVersion=v${version}`,
        beside: {
          module: MODULE,
          files: crds.map((file) => `${manager}/config/crd/bases/${file}`.replace(/^\//, "")),
        },
      },
    ],
  };
}

export const clusterApi = coreManager("cluster-api", CLUSTER_API_VERSION, {
  module: "cluster-api",
  crds: CRDS,
  manager: "",
});

/** Used by the tests of `v1beta2` only. */
export const newerClusterApi = coreManager("cluster-api-newer", NEWER_CLUSTER_API_VERSION, {
  module: `cluster-api-${NEWER_CLUSTER_API_VERSION}`,
  crds: [...CRDS, "cluster.x-k8s.io_machinedrainrules.yaml"],
  manager: "/core",
});
