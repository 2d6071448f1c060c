import { engineSignal } from "../process/parent-watch";

let watched = false;

/** Whether this is Pulumi's dynamic-provider process, in which handlers run. */
export function isDynamicProvider(): boolean {
  return process.argv[1]?.includes("dynamic-provider") ?? false;
}

/**
 * Ends Pulumi's dynamic-provider process when the engine that started it has died; Pulumi itself leaves it
 * running for ever. A remote step that is at work goes on under the machine's lock, and nothing new is begun.
 */
export function endWithEngine(): void {
  if (watched || !isDynamicProvider()) return;
  watched = true;
  engineSignal().signal.addEventListener("abort", () => process.exit(1));
}
