import type { EventEmitter } from "node:events";

/** A terminal and npm both forward the same interrupt: two within this time count as one. */
const SAME_INTERRUPT_MILLISECONDS = 1_000;

/**
 * Calls back once for each of the user's interrupts.
 *
 * @param from the source of signals; default: this process
 * @returns a function that stops listening
 */
export function onInterrupts(
  react: (signal: NodeJS.Signals) => void,
  from: EventEmitter = process,
): () => void {
  let last = -Infinity;
  const listen = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (now - last < SAME_INTERRUPT_MILLISECONDS) return;
    last = now;
    react(signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  signals.forEach((signal) => from.on(signal, listen));
  return () => signals.forEach((signal) => from.off(signal, listen));
}
