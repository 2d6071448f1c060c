import { setTimeout as pause } from "node:timers/promises";
import { abortError, anySignal, orAborted } from "./abort";
import { withoutIds } from "./text/identifiers";
import { assertNotInterrupted, graceSignal, interruptSignal, RunInterrupted } from "./process/interruption";

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

  /** @param seconds how long the remote side asks to wait before the next probe */
  constructor(
    message: string,
    readonly seconds = 0,
  ) {
    super(message);
  }
}

/** The result of a probe: the wait's result, or the current condition as text, and the least pause before the next. */
export type Probed<T> = { done: T } | { pending: string; seconds?: number };

/** What a wait waits for, and when it ends. */
export interface WaitArgs<T> {
  /** what the wait waits for, as the object of "waiting for" */
  what: string;
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

/** The deadline of a wait, and how it is reported. */
export type Deadline = Pick<WaitArgs<unknown>, "what" | "seconds" | "signal" | "progress">;

/**
 * Runs work that has a deadline.
 *
 * @param work its signal aborts at the deadline, with the caller's signal or with an interrupt of the run
 * @throws WaitTimeout at the deadline and RunInterrupted at an interrupt, with the last condition
 * @throws the signal's reason when it aborts; everything that the work throws
 */
export async function withDeadline<T>(
  args: Deadline,
  work: (signal: AbortSignal, progress: WaitProgress, deadline: number) => Promise<T>,
): Promise<T> {
  return withSignals(args, ({ waiting }, progress, deadline) => work(waiting, progress, deadline));
}

interface WaitSignals {
  /** for pauses and watches */
  waiting: AbortSignal;
  /** for requests: an interrupt leaves them a few seconds */
  asking: AbortSignal;
}

async function withSignals<T>(
  { what, seconds, signal: callers, progress: report }: Deadline,
  work: (signals: WaitSignals, progress: WaitProgress, deadline: number) => Promise<T>,
): Promise<T> {
  assertNotInterrupted();
  const deadline = Date.now() + seconds * 1000;
  const progress = new WaitProgress(what, deadline, report);
  const expired = new AbortController();
  const timer = setTimeout(() => expired.abort(), seconds * 1000);
  const asking = anySignal(expired.signal, callers, graceSignal());
  const waiting = anySignal(asking, interruptSignal());
  try {
    return await work({ waiting, asking }, progress, deadline);
  } catch (error) {
    if (isInterrupt(error, waiting))
      throw new RunInterrupted(`while it waited for ${what}; last seen: ${progress.lastSeen}`);
    if (callers?.aborted) throw abortError(callers);
    if (expired.signal.aborted) throw new WaitTimeout(what, progress.lastSeen, seconds);
    throw error;
  } finally {
    clearTimeout(timer);
    progress.close();
  }
}

/** Whether work ended because the run was interrupted. */
const isInterrupt = (error: unknown, { reason }: AbortSignal): boolean =>
  reason instanceof RunInterrupted &&
  (error instanceof RunInterrupted || (error instanceof Error && error.name === "AbortError"));

/**
 * Probes until it is done, with growing pauses (jitter of a quarter either way) between the probes.
 *
 * @throws as withDeadline; of what the probe throws, not `Transient`
 */
export async function waitFor<T>(args: WaitArgs<T>): Promise<T> {
  const longest = args.longestPauseMilliseconds ?? 5000;
  let next = Math.min(args.firstPauseMilliseconds ?? 250, longest);
  return withSignals(args, async ({ waiting, asking }, progress, deadline) => {
    for (;;) {
      const found = await probeOnce(args, asking);
      if ("done" in found) return found.done;
      progress.saw(found.pending);
      const milliseconds = next * (1 - JITTER + 2 * JITTER * Math.random());
      // a timer of more than 24 days would end at once
      const asked = Math.min((found.seconds ?? 0) * 1000, Math.max(0, deadline - Date.now()));
      await pause(Math.max(milliseconds, asked), undefined, { signal: waiting });
      next = Math.min(next * GROWTH, longest);
    }
  });
}

async function probeOnce<T>(args: WaitArgs<T>, signal: AbortSignal): Promise<Probed<T>> {
  try {
    return await orAborted(args.probe(signal), signal);
  } catch (error) {
    if (error instanceof Transient) return { pending: error.message, seconds: error.seconds };
    throw error;
  }
}

const REPEAT_MILLISECONDS = 15_000;
const LONGEST_REPEAT_MILLISECONDS = 60_000;

/**
 * Reports a wait: "waiting for X, last saw Y, N s left". Prints when Y changes, and while it stays the same after 15
 * seconds, then 30, then every minute.
 */
class WaitProgress {
  lastSeen = "nothing yet";
  private repeat: NodeJS.Timeout | undefined;
  private pause = REPEAT_MILLISECONDS;

  /** @param deadline in milliseconds of `Date.now()` */
  constructor(
    private readonly what: string,
    private readonly deadline: number,
    private readonly progress: ((line: string) => void) | undefined,
  ) {
    this.repeatLater();
  }

  /** Records a condition as text and reports it when more than an id in it is new. */
  saw(condition: string): void {
    const isSame = withoutIds(condition) === withoutIds(this.lastSeen);
    this.lastSeen = condition;
    if (isSame) return;
    this.pause = REPEAT_MILLISECONDS;
    this.say();
    this.repeatLater();
  }

  close(): void {
    clearTimeout(this.repeat);
  }

  private repeatLater(): void {
    if (!this.progress) return;
    clearTimeout(this.repeat);
    this.repeat = setTimeout(() => {
      this.say();
      this.pause = Math.min(this.pause * 2, LONGEST_REPEAT_MILLISECONDS);
      this.repeatLater();
    }, this.pause);
    this.repeat.unref();
  }

  private say(): void {
    const left = Math.max(0, Math.ceil((this.deadline - Date.now()) / 1000));
    this.progress?.(`waiting for ${this.what}, last saw ${this.lastSeen}, ${left} s left`);
  }
}
