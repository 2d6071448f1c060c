import { findBackend } from "../engine/backend";
import { EXIT } from "../terminal/exit-codes";
import { clearPendingOperations, findLocks, mayHavePending, requireStack } from "../engine/killed-runs";
import { findRemoteLock } from "../engine/remote-lock";
import type { FoundLock } from "../engine/stack-lock";
import { askPerson, print } from "../terminal/terminal";

export interface UnlockOptions {
  readonly stack: string;
  readonly project: string;
  /** Whether the command line confirms the deletion. */
  readonly yes: boolean;
}

/** The locks of a stack, and whether something may be pending. */
interface LockedStack {
  readonly locks: readonly FoundLock[];
  readonly mayHavePending: () => Promise<boolean>;
}

/**
 * Clears a stack's locks. Locks of dead processes on this host need no confirmation; locks of other hosts do; locks of
 * running processes on this host stay. When no lock is left, it also clears pending operations of killed runs if that
 * is safe.
 *
 * @returns the exit code; of several locks that are left, the first one decides
 */
export async function unlock(options: UnlockOptions, say = print): Promise<number> {
  const { locks, mayHavePending } = await readStack(options);
  if (locks.length === 0) say(`the stack ${options.stack} of project ${options.project} is not locked`);
  let exitCode: number = EXIT.done;
  const keep = (words: string, code: number) => {
    say(`not cleared${words}`);
    if (exitCode === EXIT.done) exitCode = code;
  };
  for (const lock of locks) {
    const { kind, because } = lock.verdict;
    if (kind === "held") {
      keep(`: ${because}. Stop it first (an interrupt lets it end in order), then try again.`, EXIT.locked);
      continue;
    }
    if (kind === "unknown" && !options.yes) {
      const question = `${because}. Clear it anyway? Two runs at the same time damage the stack. [y/N] `;
      const answer = await askPerson(question);
      if (answer === undefined) keep(`: ${because}. Without a terminal, give --yes.`, EXIT.usage);
      if (answer === false) keep("", EXIT.declined);
      if (answer !== true) continue;
    }
    await lock.clear();
    say(`cleared: ${because}`);
  }
  if (exitCode === EXIT.done && (await mayHavePending()))
    for (const line of await clearPendingOperations(projectOf(options), options.stack)) say(line);
  return exitCode;
}

const projectOf = ({ project }: UnlockOptions) => ({ folder: process.cwd(), name: project });

/** @throws Error when there is no such stack, or the backend has locks of its own */
async function readStack(options: UnlockOptions): Promise<LockedStack> {
  const backend = await findBackend();
  if (backend.kind === "service") {
    const what =
      backend.url === undefined
        ? "no backend is logged in to"
        : `the backend ${backend.url} has its own locks`;
    throw new Error(`${what}; they are cleared with: pulumi cancel ${options.stack}`);
  }
  if (backend.kind === "remote") {
    const lock = await findRemoteLock(projectOf(options), options.stack);
    return { locks: lock === undefined ? [] : [lock], mayHavePending: () => Promise.resolve(true) };
  }
  const target = { ...options, stateFolder: backend.folder };
  const locks = await findLocks(target);
  if (locks.length === 0) await requireStack(target);
  return { locks, mayHavePending: () => mayHavePending(target) };
}
