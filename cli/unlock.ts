import { EXIT } from "./exit-codes";
import { findStateFolder, deleteLock, findLocks, clearPendingOperations, requireStack } from "./killed-runs";
import { askPerson, print } from "./terminal";

export interface UnlockOptions {
  readonly stack: string;
  readonly project: string;
  /** Whether the command line confirms the deletion. */
  readonly yes: boolean;
}

/**
 * Clears a stack's locks. Locks of dead processes on this host need no confirmation; locks of other hosts do; locks of
 * running processes on this host stay. When no lock is left, it also clears pending operations of killed runs if that
 * is safe.
 *
 * @returns the exit code; of several locks that are left, the first one decides
 */
export async function unlock(options: UnlockOptions, say = print): Promise<number> {
  const target = { ...options, stateFolder: await findStateFolder(options.stack) };
  const locks = await findLocks(target);
  if (locks.length === 0) await requireStack(target);
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
    await deleteLock(lock);
    say(`cleared: ${because}`);
  }
  if (exitCode === EXIT.done)
    for (const line of await clearPendingOperations(target, process.cwd())) say(line);
  return exitCode;
}
