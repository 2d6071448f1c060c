/** The options of a cloud before its first start. */
export interface CloudOptions {
  /** The folder of all its data; created if missing. */
  readonly folder: string;
  /** The system of its container nodes, a DNS label that no other cloud and no other system of this clone has. */
  readonly system: string;
  /**
   * Whether servers are containers; default true. Otherwise they are only rows in nova's database and created at once.
   */
  readonly containers?: boolean;
  /** Whether it has load balancers; default false. */
  readonly octavia?: boolean;
  /** Whether it has volumes; default false. */
  readonly cinder?: boolean;
  /**
   * Whether its APIs listen at an address of this machine by which its servers reach them, too; default false: on
   * 127.0.0.1 alone. Connections from other hosts are closed.
   */
  readonly reachedByServers?: boolean;
  /** Kubernetes versions and other bundles whose images are preloaded on each server; default none. */
  readonly bundles?: readonly string[];
}
