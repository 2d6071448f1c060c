import type { ObservedPool } from "./observed";

/**
 * Returns the transitions from Cluster API's figure of MachinePool provisioning that a pool has completed, in the
 * figure's order; a new line is a transition that has just happened.
 */
export function transitions(pool: ObservedPool): string[] {
  const { counts, wanted } = pool;
  const lines: string[] = [];
  if (pool.isOwned) lines.push("its Cluster has become its owner");
  if (pool.bootstrapReady) {
    const secret = pool.dataSecretName === undefined ? "" : `, data in the Secret ${pool.dataSecretName}`;
    lines.push(`bootstrap is ready${secret}`);
  }
  if (pool.infrastructureReady) lines.push("infrastructure is ready");
  if (pool.phase !== undefined) lines.push(`phase ${pool.phase}`);
  if (pool.infrastructureReady) {
    const unavailable = Math.max(0, counts.replicas - counts.available);
    lines.push(
      `${counts.replicas} of ${wanted ?? 1} replicas: ${counts.ready} ready, ${counts.available} available, ${unavailable} unavailable`,
    );
  }
  return lines;
}

/** The state of a pool from an earlier run. */
export type PoolAsKnown = Partial<Pick<ObservedPool, "phase" | "counts" | "wanted">>;

/** Reports each transition once, when it happens. */
export class Transitions {
  private last: Set<string> | undefined;

  /**
   * @param before the pool at the end of the last run, so that transitions before the first read are reported, too;
   *   undefined for a new pool, whose transitions are all new
   */
  constructor(private readonly before: PoolAsKnown | undefined) {}

  /** @returns the lines that are new since the last call */
  seen(pool: ObservedPool): string[] {
    const lines = transitions(pool);
    const known = this.last ?? new Set(this.before ? transitions({ ...pool, ...this.before }) : []);
    const fresh = lines.filter((line) => !known.has(line));
    this.last = new Set(lines);
    return fresh;
  }
}
