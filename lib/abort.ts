import { once } from "node:events";
import { setTimeout } from "node:timers/promises";

/** Returns an aborted signal's error: its reason if that is an error, otherwise one with the message "aborted". */
export function abortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("aborted");
}

/** Returns a signal that aborts when any of the given ones does; ignores undefined ones. */
export function anySignal(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/**
 * Returns the result of the work, or throws the signal's error as soon as it aborts, even when the work ignores the
 * signal.
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const done = new AbortController();
  const aborted = async (): Promise<never> => {
    if (!signal.aborted) await once(signal, "abort", { signal: done.signal });
    throw abortError(signal);
  };
  try {
    return await Promise.race([aborted(), work]);
  } finally {
    done.abort();
  }
}

/**
 * Returns a function that waits for milliseconds, at most until a promise is fulfilled, and returns false when the signal
 * aborts meanwhile.
 */
export const waitUnless =
  (signal: AbortSignal) =>
  async (milliseconds: number, ended?: Promise<unknown>): Promise<boolean> => {
    const over = new AbortController();
    void ended?.then(() => over.abort());
    const isOver = () => !signal.aborted;
    return setTimeout(milliseconds, true, { signal: anySignal(signal, over.signal) }).catch(isOver);
  };
