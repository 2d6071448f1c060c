import { createInterface } from "node:readline/promises";
import type { EventEmitter } from "node:events";
import pc from "picocolors";
import { displayText } from "../../lib/text/display";

/** Prints a text and a line break; also for texts from clusters, clouds and machines. */
export function print(text: string): void {
  process.stdout.write(`${displayText(text)}\n`);
}

/** Prints an error; also for texts from clusters, clouds and machines. */
export function printError(text: string): void {
  process.stderr.write(`${displayText(text)}\n`);
}

/**
 * Asks a yes-or-no question; every other answer counts as no.
 *
 * @returns undefined without a terminal
 */
export async function askPerson(question: string): Promise<boolean | undefined> {
  const answer = await askText(question);
  return answer === undefined ? undefined : /^y(es)?$/i.test(answer);
}

/** Asks for a text. @returns undefined without a terminal */
export async function askText(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const dialogue = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await dialogue.question(displayText(question))).trim();
  } finally {
    dialogue.close();
  }
}

let quiet = false;

/** Sets whether the engine's output is shown only when it fails. */
export function setQuiet(value: boolean): void {
  quiet = value;
}

/** Tells whether the engine's output is shown only when it fails. */
export const isQuiet = (): boolean => quiet;

/** Set to "always" by --color, for this process and those that it starts. */
export const COLOR_VARIABLE = "FORESAIL_COLOR";

/**
 * Returns the engine's `--color` for output on a stream. The engine writes to a pipe, so it can't detect the terminal
 * itself. NO_COLOR (https://no-color.org) and a stream that is not a terminal disable colors; `--color always` enables them.
 */
export function colorOfStream(
  stream: { readonly isTTY?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): "always" | "never" {
  if (environment[COLOR_VARIABLE] === "always") return "always";
  const refused = (environment["NO_COLOR"] ?? "") !== "";
  return stream.isTTY === true && !refused ? "always" : "never";
}

/** Returns the colors for texts on a stream. Those that picocolors chooses itself color files, too, wherever CI is set. */
export const colorsOf = (...stream: Parameters<typeof colorOfStream>) =>
  pc.createColors(colorOfStream(...stream) === "always");

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
