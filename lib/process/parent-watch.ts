import { anySignal } from "../abort";
import { assertNotInterrupted, graceSignal } from "./interruption";
import { isAlive, type ProcessFacts, type ProcessIdentity, readProcess } from "./identity";

/** The Pulumi engine that started this process is dead. Continuing would change the cluster without a run. */
export class EngineGone extends Error {
  override readonly name = "EngineGone";

  constructor(readonly pid: number) {
    super(
      `the Pulumi engine (process ${pid}) is gone, so this stops before its next step. ` +
        `Run the same command again: it continues where this one ended.`,
    );
  }
}

/** Reads a process's facts; tests pass their own function. */
type ReadProcess = (pid: number) => ProcessFacts | undefined;

/**
 * Returns the nearest ancestor whose command is `pulumi`, past shells and launchers such as
 * `pulumi-resource-pulumi-nodejs`; the direct parent when there is none.
 */
export function engineProcess(from: number = process.pid, read: ReadProcess = readProcess): ProcessIdentity {
  const self = read(from);
  let ancestor = self && read(self.parent);
  while (ancestor && ancestor.pid > 1) {
    if (/^pulumi(\.exe)?$/.test(ancestor.command)) return identityOf(ancestor);
    ancestor = read(ancestor.parent);
  }
  const parent = self && read(self.parent);
  return parent ? identityOf(parent) : { pid: self?.parent ?? process.ppid, startTime: "" };
}

/** Shorter than the pause before a call is retried, so that an orphaned process does not send a call twice. */
const LOOK_MILLISECONDS = 100;

// Determined once, when this module loads: later, an orphaned process has other ancestors.
const engine = engineProcess();

/** @throws EngineGone when the engine that started this process has ended, RunInterrupted when it ends its run */
export function assertEngineAlive(watched: ProcessIdentity = engine): void {
  assertNotInterrupted();
  if (!isAlive(watched)) throw new EngineGone(watched.pid);
}

/**
 * Returns a signal that aborts with EngineGone soon after the engine's death, and with RunInterrupted soon after an
 * interrupt, for waits and remote commands. Does not keep the process running.
 */
export function engineSignal(watched: ProcessIdentity = engine): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const timer = setInterval(() => {
    if (!isAlive(watched)) controller.abort(new EngineGone(watched.pid));
  }, LOOK_MILLISECONDS);
  timer.unref();
  return { signal: anySignal(controller.signal, graceSignal()), stop: () => clearInterval(timer) };
}

function identityOf({ pid, startTime }: ProcessFacts): ProcessIdentity {
  return { pid, startTime };
}

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
