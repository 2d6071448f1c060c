import type { Program } from "./program";

/** The version of Cluster API whose MachinePool controller the sandbox and the tests run. */
const CLUSTER_API_VERSION = "1.7.1";
/** A version that serves `v1beta2` beside `v1beta1`, and its provider for Docker. */
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

/** Used by the tests of `v1beta2`, and by those of the provider for Docker. */
export const newerClusterApi = coreManager("cluster-api-newer", NEWER_CLUSTER_API_VERSION, {
  module: `cluster-api-${NEWER_CLUSTER_API_VERSION}`,
  crds: [...CRDS, "cluster.x-k8s.io_machinedrainrules.yaml"],
  manager: "/core",
});

const DOCKER_CRDS = ["cluster", "machine", "machinepool"]
  .flatMap((kind) => [`${kind}s`, `${kind}templates`])
  .flatMap((plural) => [`dev${plural}`, `docker${plural}`])
  .map((plural) => `infrastructure.cluster.x-k8s.io_${plural}.yaml`);
const DOCKER = "test/infrastructure/docker";

/** Cluster API's own infrastructure provider for Docker, with the definitions of its kinds. */
export const clusterApiDocker: Program = {
  name: "cluster-api-docker",
  version: NEWER_CLUSTER_API_VERSION,
  title: `Cluster API ${NEWER_CLUSTER_API_VERSION}, its provider for Docker`,
  folder: `programs/cluster-api-docker-${NEWER_CLUSTER_API_VERSION}`,
  files: ["manager", ...DOCKER_CRDS],
  downloads: [],
  builds: [
    {
      module: `cluster-api-${NEWER_CLUSTER_API_VERSION}`,
      packages: { manager: `${MODULE}/${DOCKER}` },
      ldflags: `-s -w -X ${MODULE}/version.gitVersion=v${NEWER_CLUSTER_API_VERSION}`,
      beside: {
        module: `${MODULE}/test`,
        files: DOCKER_CRDS.map((file) => `${DOCKER.replace("test/", "")}/config/crd/bases/${file}`),
      },
    },
  ],
};
