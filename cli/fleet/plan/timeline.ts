import type { Fleet } from "./fleet";
import { type GateState, nextOf, type StackState } from "./waves";

/** When a stack or a gate begins and ends, in the unit of the durations. */
export interface Span {
  readonly kind: "stack" | "gate";
  /** The stack, or the wave of the gate. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** How long stacks took in earlier runs. */
export type History = Readonly<
  Record<string, readonly { readonly seconds: number; readonly steps: number }[]>
>;

/**
 * Returns how long the run of a stack takes by earlier runs: of the stack itself, else of all. A run takes as long for each
 * of its steps as the median one.
 *
 * @returns seconds; undefined when there was no run
 */
export function estimateSeconds(history: History, stack: string, steps: number): number | undefined {
  const own = Object.hasOwn(history, stack) ? (history[stack] ?? []) : [];
  const runs = own.length > 0 ? own : Object.values(history).flat();
  const rates = runs.map((run) => run.seconds / Math.max(1, run.steps)).sort((one, other) => one - other);
  const median = rates[Math.floor((rates.length - 1) / 2)];
  return median === undefined ? undefined : Math.round(median * Math.max(1, steps));
}

/**
 * Returns when each stack and gate of a run without failures begins and ends, as the runner itself would begin them. Windows
 * and the parts of gates without a known length take no time.
 */
export function timelineOf(fleet: Fleet, durationOf: (stack: string) => number): Span[] {
  const stacks: Record<string, StackState> = {};
  const gates: Record<string, GateState> = {};
  const running: Span[] = [];
  const spans: Span[] = [];
  let now = 0;
  const begin = (kind: Span["kind"], name: string, length: number) =>
    running.push({ kind, name, from: now, to: now + length });
  for (;;) {
    const next = nextOf(fleet, { stacks, gates });
    if (next.end !== undefined) return spans;
    for (const name of next.stacks) {
      stacks[name] = "running";
      begin("stack", name, durationOf(name));
    }
    if (next.gate !== undefined) {
      gates[next.gate] = "running";
      const wave = fleet.waves.find(({ name }) => name === next.gate);
      begin("gate", next.gate, wave?.gate?.soakSeconds ?? 0);
    }
    running.sort((one, other) => one.to - other.to);
    const ended = running.shift();
    if (ended === undefined) return spans;
    now = ended.to;
    if (ended.kind === "stack") stacks[ended.name] = "done";
    else gates[ended.name] = "passed";
    spans.push(ended);
  }
}
