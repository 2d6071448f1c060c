import { setTimeout as pause } from "node:timers/promises";
import type { Cloud } from "../client";
import { engineSignal } from "../../../lib/process/parent-watch";
import { serverFaultAdvice } from "../plan/server-fault";

interface ServerFaultWatch {
  cloud?: string;
  region?: string;
  /** Names of the servers that the run creates. */
  arriving: readonly string[];
  /** Prints a message. */
  say: (line: string) => void;
  /** Interval. @default 1000, because the run may end a moment after Pulumi's provider sees a failure */
  lookMilliseconds?: number;
}

const ASK_SECONDS = 20;
/** Deadline of the watch. Pulumi's OpenStack provider also gives up after 30 minutes. */
const LONGEST_MILLISECONDS = 30 * 60_000;

/**
 * Watches new servers in the background and reports why one fails, because Pulumi's provider reports only state ERROR.
 * Ends when all servers are active or failed, or with the engine. Errors of the watch are ignored, and it does not keep
 * the process running.
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
        // Other resources report that the cloud does not answer.
      }
    }
  } catch {
    // The engine has ended.
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
