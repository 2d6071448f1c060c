/** What is chosen of a cloud before its first start. */
export interface CloudOptions {
  /** Where it keeps everything; made if it is not there. */
  readonly folder: string;
  /** The system of its container nodes, a DNS label that no other cloud and no other system of this clone has. */
  readonly system: string;
  /** Whether servers are containers; default true. Without, they are rows in nova's database, and made at once. */
  readonly containers?: boolean;
  /** Whether it has load balancers; default false. */
  readonly octavia?: boolean;
  /** Whether it has volumes; default false. */
  readonly cinder?: boolean;
  /**
   * Whether its APIs listen at an address of this machine by which its servers reach them, too; default false: on
   * 127.0.0.1 alone. Whoever else calls there is hung up on.
   */
  readonly reachedByServers?: boolean;
  /** Kubernetes versions and other bundles whose images each server has from its beginning; default none. */
  readonly bundles?: readonly string[];
}
