import type { Fleet } from "../plan/fleet";
import { type GateState, nextOf, type Progress, type StackState } from "../plan/waves";

/** What carries out the decisions of the plan: processes on this machine, a workflow with workers in regions, or a test. */
export interface FleetWork {
  /** Runs a stack to its end; never throws. */
  stack(name: string): Promise<Exclude<StackState, "running">>;
  /** Checks the gate after a wave; "waiting" when a person's approval is missing. */
  gate(wave: string): Promise<Exclude<GateState, "running"> | "waiting">;
  /** Returns the stacks whose window is closed now. @default none */
  closed?(): ReadonlySet<string>;
  /**
   * Waits until one of these stacks may begin; false when the run ends instead.
   *
   * @param ended ends the waiting, too; absent when nothing else is left to do
   */
  opening?(stacks: readonly string[], ended?: Promise<void>): Promise<boolean>;
  /** Takes each progress before the runner acts on it. */
  save(progress: Progress): Promise<void>;
}

export type FleetEnd = "done" | "failed" | "stopped" | "waiting";

/**
 * Runs the waves from a progress on. After an abort nothing begins any more, and what runs is awaited.
 *
 * @returns "stopped" after an abort that left something to do
 */
export async function runWaves(
  fleet: Fleet,
  from: Progress,
  work: FleetWork,
  signal: Pick<AbortSignal, "aborted">,
): Promise<FleetEnd> {
  const stacks: Record<string, StackState> = { ...from.stacks };
  const gates: Record<string, GateState> = { ...from.gates };
  const running = new Map<string, Promise<void>>();
  let isWaiting = false;
  const begin = (id: string, work: Promise<void>) =>
    running.set(
      id,
      work.finally(() => running.delete(id)),
    );
  const beginStack = (name: string) => {
    stacks[name] = "running";
    begin(
      `stack ${name}`,
      work.stack(name).then((state) => void (stacks[name] = state)),
    );
  };
  const beginGate = (wave: string) => {
    gates[wave] = "running";
    const ended = work.gate(wave).then((state) => {
      if (state === "waiting") {
        delete gates[wave];
        isWaiting = true;
      } else gates[wave] = state;
    });
    begin(`gate ${wave}`, ended);
  };
  for (;;) {
    const next = nextOf(fleet, { stacks, gates }, work.closed?.());
    if (next.end !== undefined || isWaiting || signal.aborted) {
      await Promise.all(running.values());
      await work.save({ stacks, gates });
      const { end } = nextOf(fleet, { stacks, gates });
      return end ?? (isWaiting ? "waiting" : "stopped");
    }
    next.stacks.forEach(beginStack);
    if (next.gate !== undefined) beginGate(next.gate);
    const { closed } = next;
    if (closed !== undefined && running.size === 0) {
      isWaiting = (await work.opening?.(closed)) !== true;
      continue;
    }
    await work.save({ stacks, gates });
    // what ended while the progress was saved is no longer in the list, and a race of nothing never ends
    if (running.size === 0) continue;
    const ended = Promise.race(running.values());
    // what it throws ends the run, and not the waiting
    const over = ended.catch(() => undefined);
    await Promise.race([
      ended,
      ...(closed !== undefined && work.opening ? [work.opening(closed, over)] : []),
    ]);
  }
}
