/** Defaults of a kubeadm cluster: of a stack's configuration and of a component's arguments. */

/** The pods' block is Flannel's own default; the others are kubeadm's. */
export const DEFAULT_NETWORK = {
  podCidr: "10.244.0.0/16",
  serviceCidr: "10.96.0.0/12",
  dnsDomain: "cluster.local",
} as const;

interface Network {
  podCidr: string;
  serviceCidr: string;
  dnsDomain: string;
}

/** Returns the network's blocks and domain with the defaults. */
export function networkOf({ podCidr, serviceCidr, dnsDomain }: Partial<Network> = {}): Network {
  return {
    podCidr: podCidr ?? DEFAULT_NETWORK.podCidr,
    serviceCidr: serviceCidr ?? DEFAULT_NETWORK.serviceCidr,
    dnsDomain: dnsDomain ?? DEFAULT_NETWORK.dnsDomain,
  };
}

/** User of SSH, and the deadline of one attempt to connect. */
export const DEFAULT_SSH = { user: "root", dialTimeoutSeconds: 15 } as const;

/** Pool of a worker without one. */
export const DEFAULT_POOL = "workers";

/** How nodes find an API server: haproxy on each node, at this port of 127.0.0.1. */
export const DEFAULT_LOOPBACK = { port: 8443 } as const;

export const DEFAULT_FILE_MODE = "0600";

/** Deadlines of the phases of a machine, in seconds. */
export const DEFAULT_TIMEOUTS = { ssh: 300, prepare: 900, init: 600, join: 600, ready: 600 } as const;

export const DEFAULT_DRAIN = { timeoutSeconds: 300, deleteEmptyDirData: false, force: false } as const;

/** A rollout takes one node of a pool at a time, without a pause. */
export const DEFAULT_ROLLOUT = { maxUnavailable: 1, soakSeconds: 0, nodeTimeoutSeconds: 1200 } as const;
