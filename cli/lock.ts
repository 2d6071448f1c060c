import { readdir, readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import {
  judgeLock,
  parseBackendLock,
  type FileBackendStack,
  type LockVerdict,
} from "../lib/pulumi/backend-lock";
import { lookUpProcess } from "./process-facts";
import { removeCorruptAttributes } from "./corrupt-attributes";

/** A lock file and the verdict on its owner. */
interface FoundLock {
  readonly file: string;
  readonly verdict: LockVerdict;
}

/** Returns the locks on a stack, each with a verdict from what is known on this host about its owner. */
export async function findLocks({ stateFolder, project, stack }: FileBackendStack): Promise<FoundLock[]> {
  const folder = path.join(stateFolder, ".pulumi", "locks", "organization", project, stack);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const found: FoundLock[] = [];
  for (const name of names.filter((each) => each.endsWith(".json"))) {
    const file = path.join(folder, name);
    const text = await readFile(file, "utf8").catch(() => undefined);
    // released since the listing
    if (text === undefined) continue;
    const lock = parseBackendLock(text);
    const holder = lock === undefined ? ({ alive: false } as const) : await lookUpProcess(lock.pid);
    found.push({ file, verdict: judgeLock(lock, hostname(), holder) });
  }
  return found;
}

/** Deletes a lock; a missing one is not an error. */
export async function deleteLock(lock: FoundLock): Promise<void> {
  await rm(lock.file, { force: true });
  // the file backend keeps each file's attributes next to it
  await rm(`${lock.file}.attrs`, { force: true });
}

/** The stack stays locked by a process that may still be running. */
export class StackLockedError extends Error {
  override readonly name = "StackLockedError";

  constructor(stack: string, locks: readonly FoundLock[]) {
    super(
      `the stack ${stack} is locked: ${locks.map((lock) => lock.verdict.because).join("; ")}\n` +
        `Wait for it to end. If it is certain that it no longer runs: foresail unlock --stack ${stack} (or: pulumi cancel ${stack})`,
    );
  }
}

/**
 * Deletes the locks whose process on this host is dead, and the attribute files that it left incomplete.
 *
 * @returns a line for each deleted file
 * @throws StackLockedError when another lock remains
 */
export async function clearDeadLocks(target: FileBackendStack): Promise<string[]> {
  const locks = await findLocks(target);
  const dead = locks.filter((lock) => lock.verdict.kind === "dead");
  for (const lock of dead) await deleteLock(lock);
  const remaining = locks.filter((lock) => lock.verdict.kind !== "dead");
  if (remaining.length > 0) throw new StackLockedError(target.stack, remaining);
  const cleared = dead.map((lock) => `cleared the lock of ${target.stack}: ${lock.verdict.because}`);
  return [...cleared, ...(await removeCorruptAttributes(target))];
}
