import { createHash } from "node:crypto";

/** The names and labels of one system's objects in the engine. */
export interface FleetNames {
  /** short hash of the project folder, so that two clones on one machine never conflict */
  readonly project: string;
  readonly system: string;
  readonly network: string;
  /**
   * hexadecimal digits that determine where the search for ports and a subnet starts; different for fleets that start
   * at the same time
   */
  readonly seed: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The label that names the clone, on every container, volume and network. */
export const PROJECT_LABEL = "foresail.project";

/** The label that names the system within the clone. */
const SYSTEM_LABEL = "foresail.system";

/** The label with a node's name, on its container and volumes. */
export const NODE_LABEL = "foresail.node";

/** The parts of a node that survive its container's restart, and their mount points. */
export const VOLUMES: Readonly<Record<string, string>> = {
  kubelet: "/var/lib/kubelet",
  etcd: "/var/lib/etcd",
  containerd: "/var/lib/containerd",
};

const NAME = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;

/** Returns eight hexadecimal digits for a project folder's path. */
export function projectHash(projectFolder: string): string {
  return shortHash(projectFolder);
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/**
 * Returns the names of one system's objects.
 * @throws Error for a system that is no DNS label of at most 40 characters
 */
export function fleetNames(project: string, system: string): FleetNames {
  requireName("system", system);
  const network = `foresail-${project}-${system}`;
  return {
    project,
    system,
    network,
    seed: shortHash(network),
    labels: { [PROJECT_LABEL]: project, [SYSTEM_LABEL]: system },
  };
}

/**
 * Returns the name of a node's container.
 * @throws Error for a name that is no DNS label of at most 40 characters
 */
export function containerName(names: FleetNames, node: string): string {
  requireName("node", node);
  return `${names.network}-${node}`;
}

/** Returns the name of one of a node's volumes. */
export function volumeName(names: FleetNames, node: string, volume: string): string {
  return `${containerName(names, node)}-${volume}`;
}

function requireName(what: string, name: string): void {
  if (!NAME.test(name)) {
    throw new Error(
      `${JSON.stringify(name)} is not a valid name for a ${what}: use at most 40 lower-case letters, digits and dashes`,
    );
  }
}
