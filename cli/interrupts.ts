import type { EventEmitter } from "node:events";

/** A terminal and npm both pass one interrupt on: two within this time are the same. */
const SAME_INTERRUPT_MILLISECONDS = 1_000;

/**
 * Calls back for each interrupt of the person, each once.
 * @param from where signals come from; default: this process
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
