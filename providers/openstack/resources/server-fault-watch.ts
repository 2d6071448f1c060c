import { setTimeout as pause } from "node:timers/promises";
import type { Cloud } from "../client";
import { engineSignal } from "../../../lib/process/parent-watch";
import { serverFaultAdvice } from "../plan/server-fault";

interface ServerFaultWatch {
  cloud?: string;
  region?: string;
  /** Names of the servers that the run makes. */
  arriving: readonly string[];
  /** Takes what is to be said. */
  say: (line: string) => void;
  /** @default 1000: the run may end a moment after the provider has seen a failure */
  lookMilliseconds?: number;
}

const ASK_SECONDS = 20;
/** A server that has not come by then is not told of: its provider gives up after half an hour, too. */
const LONGEST_MILLISECONDS = 30 * 60_000;

/**
 * Looks at the servers that a run makes, beside the run, and says why one can't be made: their provider says no more than
 * that it is in state ERROR. Ends when all have come, or with the engine; what goes wrong with the looking is nobody's
 * failure. Keeps no process running.
 */
export async function watchServerFaults(watch: ServerFaultWatch): Promise<void> {
  if (watch.arriving.length === 0) return;
  const { Cloud: CloudClient } = await import("../client/index.js");
  const engine = engineSignal();
  const missing = new Set(watch.arriving);
  const deadline = Date.now() + LONGEST_MILLISECONDS;
  let cloud: Cloud | undefined;
  try {
    while (missing.size > 0 && Date.now() < deadline && !engine.signal.aborted) {
      await pause(watch.lookMilliseconds ?? 1000, undefined, { ref: false, signal: engine.signal });
      try {
        cloud ??= await CloudClient.open(watch, { seconds: ASK_SECONDS, signal: engine.signal });
        await look(cloud, missing, watch.say);
      } catch {
        // whoever needs the cloud says that it does not answer
      }
    }
  } catch {
    // the engine is gone
  } finally {
    engine.stop();
    cloud?.close();
  }
}

async function look(cloud: Cloud, missing: Set<string>, say: (line: string) => void): Promise<void> {
  const { listServers, serverFault } = await import("../client/index.js");
  for (const { id, name, status } of await listServers(cloud, [...missing])) {
    if (status === "ERROR") say(serverFaultAdvice(name, await serverFault(cloud, id)));
    if (status === "ERROR" || status === "ACTIVE") missing.delete(name);
  }
}
