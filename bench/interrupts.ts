import { setTimeout as pause } from "node:timers/promises";
import { descendants, killProcess } from "../test/support/process-tree";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const SETTLED_MILLISECONDS = 10_000;

/** A signal ended the benchmark. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";

  constructor(readonly signal: (typeof SIGNALS)[number]) {
    super(`interrupted by ${signal}`);
  }
}

/**
 * Runs work whose objects have to be removed from this machine afterwards: containers, a cloud. At a signal, the
 * programs that the work runs are killed first, so that none of them creates anything later. Further signals do not
 * stop the removal.
 *
 * @throws Interrupted after the removal; or what the work or the removal throws
 */
export async function removedAfter<T>(remove: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  let onSignal: (signal: (typeof SIGNALS)[number]) => void = () => undefined;
  const interrupted = new Promise<never>((_resolve, reject) => {
    onSignal = (signal) => {
      descendants(process.pid).forEach(killProcess);
      reject(new Interrupted(signal));
    };
  });
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const running = work();
  try {
    return await Promise.race([running, interrupted]);
  } catch (error) {
    if (error instanceof Interrupted) {
      console.error(`${error.message}; removing what the benchmark created`);
      const settled = running.then(
        () => undefined,
        () => undefined,
      );
      await Promise.race([settled, pause(SETTLED_MILLISECONDS, undefined, { ref: false })]);
    }
    throw error;
  } finally {
    await remove();
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
  }
}
