import type { MachineState } from "./fleet-files";

/** Returns the machine's time in seconds since 1970, if a test says how it differs. */
export const clockOf = ({ clockOffset }: MachineState) =>
  clockOffset === undefined ? undefined : Math.round(Date.now() / 1000) + clockOffset;

/** Returns what a machine says before it becomes a node, by the name of the fact. */
export function readingOf(state: MachineState, machine: string): Record<string, string> {
  const clock = clockOf(state);
  const foreign = `${machine}: /etc/kubernetes contains files that foresail did not create`;
  return {
    ...(state.foreign && !state.marker ? { "refusal.foreign": foreign } : {}),
    ...(clock === undefined ? {} : { clock: String(clock) }),
    ...(state.member ? { member: "yes" } : state.reading),
  };
}
