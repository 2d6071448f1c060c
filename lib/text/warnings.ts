import { displayText } from "./display";

/**
 * Prints the warnings of libraries and of Node.js as other texts are printed. A library may repeat in them what it read.
 * Node.js's own listener prints them as they are.
 */
export function displayWarnings(write = (text: string): unknown => process.stderr.write(text)): void {
  if (process.listenerCount("warning") === 0) return;
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => void write(`${displayText(`${name}: ${message}`)}\n`));
}
