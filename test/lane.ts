/** The variable that says which of the processes of a tier, which run side by side, a process is. */
export const LANE_VARIABLE = "FORESAIL_TEST_LANE";

/** Which one this process is, from 1. */
export function ownLane(): number {
  return Number(process.env[LANE_VARIABLE] ?? 1);
}

/** A name for what each of them has for itself; always the same, so that the next run finds what a killed one left. */
export function nameInLane(name: string, lane = ownLane()): string {
  return lane === 1 ? name : `${name}-${lane}`;
}
