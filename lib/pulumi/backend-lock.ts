import { isObject, parseJson } from "../json";

/** A stack in a file backend. */
export interface FileBackendStack {
  /** The backend's folder, which contains `.pulumi`. */
  readonly stateFolder: string;
  readonly project: string;
  readonly stack: string;
}

/** The content of the file backend's lock, `<state>/.pulumi/locks/organization/<project>/<stack>/<id>.json`. */
interface BackendLock {
  readonly pid: number;
  readonly username: string;
  readonly hostname: string;
  /** When the lock was taken, as an RFC 3339 time. */
  readonly timestamp: string;
}

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

/**
 * The kernel's start times have whole seconds and drift when the clock is set; a process number is reused much later
 * than this.
 */
const CLOCK_TOLERANCE_MILLISECONDS = 5_000;

/**
 * Parses a lock file's text.
 *
 * @returns undefined when it is not a lock, such as a file that was only half written
 */
export function parseBackendLock(text: string): BackendLock | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { pid, username, hostname, timestamp } = value;
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0) return undefined;
  if (typeof hostname !== "string" || typeof timestamp !== "string") return undefined;
  return { pid, hostname, timestamp, username: typeof username === "string" ? username : "unknown" };
}

/** Returns the holder for messages: `process 4711 of user ana on host build-3, since 2026-01-02T03:04:05Z`. */
export function describeHolder(lock: BackendLock): string {
  return `process ${lock.pid} of user ${lock.username} on host ${lock.hostname}, since ${lock.timestamp}`;
}

/**
 * Decides whether a lock may be deleted without asking.
 *
 * @param lock undefined for a file that is not a readable lock
 * @param hostname this host, as the engine would write it
 * @param holder what is known on this host about the process with the lock's number
 */
export function judgeLock(lock: BackendLock | undefined, hostname: string, holder: LockProcess): LockVerdict {
  if (lock === undefined) return { kind: "unknown", because: "the lock file cannot be read" };
  const words = describeHolder(lock);
  if (lock.hostname !== hostname)
    return { kind: "unknown", because: `it is held by ${words}, which is another host` };
  if (!holder.alive) return { kind: "dead", because: `${words}, is gone` };
  const taken = Date.parse(lock.timestamp);
  if (holder.startedAt !== undefined && !Number.isNaN(taken)) {
    if (holder.startedAt.getTime() > taken + CLOCK_TOLERANCE_MILLISECONDS) {
      return { kind: "dead", because: `${words}, is gone; its number belongs to a younger process now` };
    }
  }
  return { kind: "held", because: `it is held by ${words}, which is alive` };
}
