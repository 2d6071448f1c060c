import type { Fleet } from "./fleet";

/** How far a stack is; a stack that is not listed has not begun. */
export type StackState = "running" | "done" | "failed" | "interrupted";
/** How far the gate after a wave is. */
export type GateState = "running" | "passed" | "failed";

/** How far a run is: stacks and gates (by their wave) that have begun. */
export interface Progress {
  readonly stacks: Readonly<Record<string, StackState>>;
  readonly gates: Readonly<Record<string, GateState>>;
}

export const NOTHING_DONE: Progress = { stacks: {}, gates: {} };

/** What the runner does next: begin these, wait for windows or for what runs, or end. */
export interface Next {
  readonly stacks: readonly string[];
  readonly gate?: string;
  /** Stacks that could begin if their windows were open. */
  readonly closed?: readonly string[];
  readonly end?: "done" | "failed";
}

const WAIT: Next = { stacks: [] };

/**
 * Returns what a run does next. A wave begins when all stacks of the one before have ended and its gate has passed; never
 * more than `maxParallel` stacks run at once, and none begins outside of its window.
 *
 * @param closed the stacks whose window is closed
 */
export function nextOf(
  fleet: Fleet,
  { stacks, gates }: Progress,
  closed: ReadonlySet<string> = new Set(),
): Next {
  const states = Object.values(stacks);
  const running = states.filter((state) => state === "running").length;
  const hasFailed = states.some((state) => state === "failed" || state === "interrupted");
  const mayBegin = !hasFailed || (fleet.onFailure === "continue" && !states.includes("interrupted"));
  const end = (how: "done" | "failed"): Next => (running > 0 ? WAIT : { stacks: [], end: how });
  if (!mayBegin) return end("failed");
  for (const { name, stacks: all, gate } of fleet.waves) {
    const open = all.filter((stack) => stacks[stack] === undefined);
    if (open.length > 0) {
      const free = Math.max(0, fleet.maxParallel - running);
      const begin = open.filter((stack) => !closed.has(stack)).slice(0, free);
      const waiting = begin.length < free ? open.filter((stack) => closed.has(stack)) : [];
      return { stacks: begin, ...(waiting.length > 0 && { closed: waiting }) };
    }
    if (all.some((stack) => stacks[stack] === "running")) return WAIT;
    if (gate === undefined) continue;
    if (gates[name] === undefined) return { stacks: [], gate: name };
    if (gates[name] === "running") return WAIT;
    if (gates[name] === "failed") return end("failed");
  }
  return end(hasFailed ? "failed" : "done");
}

/** Returns the progress with which a run goes on after it ended or was killed: only what is done stays. */
export function resumed({ stacks, gates }: Progress): Progress {
  const keep = <State>(of: Readonly<Record<string, State>>, state: State) =>
    Object.fromEntries(Object.entries(of).filter(([, one]) => one === state));
  return { stacks: keep<StackState>(stacks, "done"), gates: keep<GateState>(gates, "passed") };
}
