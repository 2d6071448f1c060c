import type { ObservedPool } from "./observed";

/**
 * The transitions of Cluster API's figure of MachinePool provisioning that a pool has gone through, in the figure's
 * order; a line that was not there before is one that has just happened.
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

/** What is known of a pool from an earlier run. */
export type PoolAsKnown = Partial<Pick<ObservedPool, "phase" | "counts" | "wanted">>;

/** Tells each transition once, when it happens. */
export class Transitions {
  private last: Set<string> | undefined;

  /**
   * @param before what the pool was at the end of the last run, so that what happened before the first look is told, too;
   * undefined for one that has just been made: all that it has gone through has just happened
   */
  constructor(private readonly before: PoolAsKnown | undefined) {}

  /** @returns the lines that are new since the last look */
  seen(pool: ObservedPool): string[] {
    const lines = transitions(pool);
    const known = this.last ?? new Set(this.before ? transitions({ ...pool, ...this.before }) : []);
    const fresh = lines.filter((line) => !known.has(line));
    this.last = new Set(lines);
    return fresh;
  }
}
