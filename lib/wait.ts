import { setTimeout as pause } from "node:timers/promises";
import { abortError, anySignal, orAborted } from "./abort";
import { WaitProgress } from "./wait-progress";

/** A wait reached its deadline. `lastSeen` is the last condition as text. */
export class WaitTimeout extends Error {
  override readonly name = "WaitTimeout";

  constructor(
    readonly what: string,
    readonly lastSeen: string,
    readonly seconds: number,
  ) {
    super(`waited ${seconds} s for ${what}; last seen: ${lastSeen}`);
  }
}

/** Thrown by a probe for a temporary fault: the wait continues, and the message becomes its last condition. */
export class Transient extends Error {
  override readonly name = "Transient";
}

/** The result of a probe: the wait's result, or the current condition as text. */
export type Probed<T> = { done: T } | { pending: string };

interface WaitArgs<T> {
  /** what the wait waits for, as the object of "waiting for" */
  what: string;
  /** the timeout */
  seconds: number;
  /** Checks once. Its signal aborts at the deadline or with the caller's signal. */
  probe: (signal: AbortSignal) => Promise<Probed<T>>;
  signal?: AbortSignal;
  /** called with "waiting for X, last saw Y, N s left" when Y changes, and at intervals */
  progress?: (line: string) => void;
  /** between the first probes; default 250 */
  firstPauseMilliseconds?: number;
  /** default 5000 */
  longestPauseMilliseconds?: number;
}

const GROWTH = 1.6;
const JITTER = 0.25;

/**
 * Probes until it is done, with growing pauses (jitter of a quarter either way) between the probes.
 *
 * @throws WaitTimeout at the deadline, with the last condition
 * @throws the signal's reason when it aborts; everything that the probe throws, except `Transient`
 */
export async function waitFor<T>(args: WaitArgs<T>): Promise<T> {
  const deadline = Date.now() + args.seconds * 1000;
  const progress = new WaitProgress(args.what, deadline, args.progress);
  const expired = new AbortController();
  const timer = setTimeout(() => expired.abort(), args.seconds * 1000);
  const signal = anySignal(expired.signal, args.signal);
  const longest = args.longestPauseMilliseconds ?? 5000;
  let next = Math.min(args.firstPauseMilliseconds ?? 250, longest);
  try {
    for (;;) {
      const found = await probeOnce(args, signal);
      if ("done" in found) return found.done;
      progress.saw(found.pending);
      await pause(next * (1 - JITTER + 2 * JITTER * Math.random()), undefined, { signal });
      next = Math.min(next * GROWTH, longest);
    }
  } catch (error) {
    if (args.signal?.aborted) throw abortError(args.signal);
    if (expired.signal.aborted) throw new WaitTimeout(args.what, progress.lastSeen, args.seconds);
    throw error;
  } finally {
    clearTimeout(timer);
    progress.close();
  }
}

async function probeOnce<T>(args: WaitArgs<T>, signal: AbortSignal): Promise<Probed<T>> {
  try {
    return await orAborted(args.probe(signal), signal);
  } catch (error) {
    if (error instanceof Transient) return { pending: error.message };
    throw error;
  }
}
