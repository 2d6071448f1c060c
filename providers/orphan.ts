import { engineSignal } from "../clients/process/parent-watch";

let watched = false;

/**
 * Ends Pulumi's dynamic-provider process when the engine that started it has died; Pulumi itself leaves it
 * running for ever. A remote step that is at work goes on under the machine's lock, and nothing new is begun.
 */
export function endWithEngine(): void {
  if (watched || !process.argv[1]?.includes("dynamic-provider")) return;
  watched = true;
  engineSignal().signal.addEventListener("abort", () => process.exit(1));
}
