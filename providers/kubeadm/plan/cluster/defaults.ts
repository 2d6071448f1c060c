import type { Renames } from "../../../../lib/validation/renames";

/** Defaults of a kubeadm cluster: of a stack's configuration and of a component's arguments. */

/** The pods' block is Flannel's own default; the others are kubeadm's. */
export const DEFAULT_NETWORK = {
  podSubnet: "10.244.0.0/16",
  serviceSubnet: "10.96.0.0/12",
  dnsDomain: "cluster.local",
} as const;

type Network = Record<keyof typeof DEFAULT_NETWORK, string>;

/** Returns the network's blocks and domain with the defaults. */
export function networkOf({
  podSubnet = DEFAULT_NETWORK.podSubnet,
  serviceSubnet = DEFAULT_NETWORK.serviceSubnet,
  dnsDomain = DEFAULT_NETWORK.dnsDomain,
}: Partial<Network> = {}): Network {
  return { podSubnet, serviceSubnet, dnsDomain };
}

/** User of SSH, and the deadline of one attempt to connect. */
export const DEFAULT_SSH = { user: "root", dialTimeoutSeconds: 15, requireHostKeys: false } as const;

/** Pool of a worker without one. */
export const DEFAULT_POOL = "workers";

export const DEFAULT_FILE_MODE = "0600";

/** Deadlines of the phases of a machine. */
export const DEFAULT_TIMEOUTS = {
  sshSeconds: 300,
  prepareSeconds: 900,
  initSeconds: 600,
  joinSeconds: 600,
  readySeconds: 600,
} as const;

export const DEFAULT_DRAIN = {
  timeoutSeconds: 300,
  volumeDetachSeconds: 300,
  deleteEmptyDirData: false,
  force: false,
} as const;

/** A rollout takes one node of a pool at a time, without a pause. */
export const DEFAULT_ROLLOUT = { maxUnavailable: 1, soakSeconds: 0, nodeTimeoutSeconds: 1200 } as const;

/** Old names in `foresail:cluster`. */
export const CLUSTER_RENAMES: Renames = {
  "network.podCidr": "network.podSubnet",
  "network.serviceCidr": "network.serviceSubnet",
};

/** Old names in the arguments of `KubeadmCluster`. */
export const KUBEADM_CLUSTER_RENAMES: Renames = {
  ...CLUSTER_RENAMES,
  ...Object.fromEntries(
    ["ssh", "prepare", "init", "join", "ready"].map((name) => [
      `timeouts.${name}`,
      `timeouts.${name}Seconds`,
    ]),
  ),
  "timeouts.dial": "ssh.dialTimeoutSeconds",
};
