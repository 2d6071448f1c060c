import { engineSignal } from "../process/parent-watch";

let watched = false;

/** Returns whether this is Pulumi's dynamic-provider process, in which handlers run. */
export function isDynamicProvider(): boolean {
  return process.argv[1]?.includes("dynamic-provider") ?? false;
}

/**
 * Ends Pulumi's dynamic-provider process when the engine that started it has died, because Pulumi leaves it running. A
 * remote step in progress continues under the machine's lock; no new step starts.
 */
export function endWithEngine(): void {
  if (watched || !isDynamicProvider()) return;
  watched = true;
  engineSignal().signal.addEventListener("abort", () => process.exit(1));
}
