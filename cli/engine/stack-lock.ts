import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { z } from "zod";
import { parseJson } from "../../lib/json";
import { readProcess } from "../../lib/process/identity";
import { CommandError } from "../terminal/exit-codes";

/** The engine's lock, `.pulumi/locks/organization/<project>/<stack>/<id>.json` in every backend but Pulumi Cloud. */
const LOCK = z.object({
  pid: z.int().positive(),
  username: z.string().catch("unknown"),
  hostname: z.string(),
  /** When the lock was taken, as an RFC 3339 time. */
  timestamp: z.string(),
});

/** What is known on this host about the process that a lock names. */
export type LockProcess =
  | { readonly alive: false }
  | { readonly alive: true; /** Undefined if unknown. */ readonly startedAt?: Date };

/** Whether a lock still has an owner. */
export interface LockVerdict {
  /**
   * dead: the owner is gone, the lock may be deleted; held: by a running process of this host; unknown: it belongs to
   * another host or can't be read, only a person can decide
   */
  readonly kind: "dead" | "held" | "unknown";
  /** The reason as a phrase for messages. */
  readonly because: string;
}

/** A lock, and the verdict on its owner. */
export interface FoundLock {
  readonly verdict: LockVerdict;
  /** Deletes it; a missing one is not an error. */
  readonly clear: () => Promise<void>;
}

/**
 * The kernel's start times have whole seconds and drift when the clock is set; a process number is reused much later
 * than this.
 */
const CLOCK_TOLERANCE_MILLISECONDS = 5_000;

/**
 * Decides whether a lock may be deleted without asking.
 *
 * @param text the lock as JSON, which may be half written
 * @param host this host's name, as the engine would write it
 * @param look returns what is known on this host about a process
 */
export function judgeLock(
  text: string,
  host = hostname(),
  look: (pid: number) => LockProcess = lookUpProcess,
): LockVerdict {
  const lock = LOCK.safeParse(parseJson(text)).data;
  if (lock === undefined) return { kind: "unknown", because: "the lock file cannot be read" };
  const { pid, username, hostname: itsHost, timestamp } = lock;
  const words = `process ${pid} of user ${username} on host ${itsHost}, since ${timestamp}`;
  if (itsHost !== host) return { kind: "unknown", because: `it is held by ${words}, which is another host` };
  const holder = look(pid);
  if (!holder.alive) return { kind: "dead", because: `${words}, is gone` };
  // both sides are NaN, and the comparison false, for a time that can't be read
  const latest = Date.parse(timestamp) + CLOCK_TOLERANCE_MILLISECONDS;
  if (holder.startedAt !== undefined && holder.startedAt.getTime() > latest)
    return { kind: "dead", because: `${words}, is gone; its number belongs to a younger process now` };
  return { kind: "held", because: `it is held by ${words}, which is alive` };
}

/** The stack stays locked by a process that may still be running. */
export class StackLockedError extends CommandError {
  override readonly name = "StackLockedError";

  constructor(stack: string, verdicts: readonly Pick<LockVerdict, "because">[]) {
    super(
      "locked",
      `the stack ${stack} is locked: ${verdicts.map(({ because }) => because).join("; ")}\n` +
        `Wait for it to end. If it is certain that it no longer runs: foresail unlock --stack ${stack} (or: pulumi cancel ${stack})`,
    );
  }
}

/**
 * Clears the locks of dead processes.
 *
 * @returns a line for each
 * @throws StackLockedError when another lock remains
 */
export async function clearDead(stack: string, locks: readonly FoundLock[]): Promise<string[]> {
  const dead = locks.filter((lock) => lock.verdict.kind === "dead");
  for (const lock of dead) await lock.clear();
  const remaining = locks.flatMap(({ verdict }) => (verdict.kind === "dead" ? [] : [verdict]));
  if (remaining.length > 0) throw new StackLockedError(stack, remaining);
  return dead.map((lock) => `cleared the lock of ${stack}: ${lock.verdict.because}`);
}

/** Linux reports start times in hundredths of a second since the boot, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100;

/** Looks up a process of this host. A zombie counts as gone. */
function lookUpProcess(pid: number): LockProcess {
  const found = readProcess(pid);
  if (found === undefined) return { alive: false };
  const startedAt = process.platform === "linux" ? sinceBoot(found.startTime) : Date.parse(found.startTime);
  return { alive: true, ...(Number.isFinite(startedAt) && { startedAt: new Date(startedAt) }) };
}

function sinceBoot(ticks: string): number {
  const bootedAt = /^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1];
  return (Number(bootedAt) + Number(ticks) / TICKS_PER_SECOND) * 1000;
}
