import { AsyncLocalStorage } from "node:async_hooks";
import { setMaxListeners } from "node:events";

/** The user or the system interrupted the run: it begins nothing more, and what it waited for goes on without it. */
export class RunInterrupted extends Error {
  override readonly name = "RunInterrupted";
  readonly next = "run the same command again: it continues from here";

  /** @param during what the run was doing, such as "while it waited for Node w-1 to be Ready" */
  constructor(during?: string) {
    super(`the run was interrupted${during === undefined ? " before this step" : ` ${during}`}`);
  }
}

/** How long a request or a remote step that has begun may still take after the interrupt. */
const GRACE_MILLISECONDS = 3_000;
/** How long what `despiteInterrupt` does may take. */
const FINISH_MILLISECONDS = 4_500;

interface Interruption {
  readonly begun: AbortController;
  readonly graceOver: AbortController;
  readonly finished: AbortController;
}

let current: Interruption | undefined;

const finishing = new AsyncLocalStorage<true>();

/** Lets this process be interrupted. @returns the function that interrupts it, once and for all */
export function makeInterruptible(): () => void {
  const [begun, graceOver, finished] = [new AbortController(), new AbortController(), new AbortController()];
  setMaxListeners(0, begun.signal, graceOver.signal, finished.signal);
  current = { begun, graceOver, finished };
  const end = (controller: AbortController) => controller.abort(new RunInterrupted());
  return () => {
    if (begun.signal.aborted) return;
    end(begun);
    setTimeout(end, GRACE_MILLISECONDS, graceOver).unref();
    setTimeout(end, FINISH_MILLISECONDS, finished).unref();
  };
}

const signalOf = (kind: "begun" | "graceOver"): AbortSignal | undefined =>
  current?.[finishing.getStore() === true ? "finished" : kind].signal;

/** Returns a signal that aborts with the interrupt: for pauses and watches. */
export const interruptSignal = (): AbortSignal | undefined => signalOf("begun");

/** Returns a signal that aborts a few seconds after it: for what was sent and may still be answered. */
export const graceSignal = (): AbortSignal | undefined => signalOf("graceOver");

/** @throws RunInterrupted after an interrupt: nothing may begin */
export function assertNotInterrupted(): void {
  if (interruptSignal()?.aborted) throw new RunInterrupted();
}

/** Does work that an interrupted run still does, such as giving a lock back: it ends at most some seconds after the interrupt. */
export const despiteInterrupt = <T>(work: () => Promise<T>): Promise<T> => finishing.run(true, work);
