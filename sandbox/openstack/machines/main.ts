/**
 * Replaces the hypervisor of the sandbox's OpenStack: nova is real, its fake driver runs nothing, and this process runs
 * a container node for each server (python/foresail_machines.py is nova's side). Argument: the cloud's folder.
 */
import { setTimeout as pause } from "node:timers/promises";
import { cloudPaths, readSettings } from "../settings";
import { Hosts } from "./hosts";
import { Machines } from "./machines";

const LOOK_MILLISECONDS = 200;

async function main(): Promise<void> {
  const folder = process.argv[2] ?? "";
  const settings = await readSettings(folder);
  if (settings === undefined) throw new Error(`there is no cloud in ${folder}`);
  const paths = cloudPaths(folder);
  const say = (line: string) => console.log(`${new Date().toISOString()} ${line}`);
  const machines = new Machines(paths, new Hosts(settings), say);
  const stop = new AbortController();
  process.once("SIGTERM", () => stop.abort());
  while (!stop.signal.aborted) {
    await machines.look().catch((error: unknown) => say(String(error)));
    await pause(LOOK_MILLISECONDS, undefined, { signal: stop.signal }).catch(() => undefined);
  }
  await machines.waitUntilIdle();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
