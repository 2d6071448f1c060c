/** Limits of a whole number, both included. */
export type Limits = readonly [least: number, most: number];

/** Durations in seconds: at most a day. */
export const SECONDS: Limits = [1, 86_400];
/** Ports of TCP. */
export const PORTS: Limits = [1, 65_535];
/** Machines of one pool or group. */
export const MACHINES: Limits = [0, 1000];

/** Replicas of a MachinePool: Kubernetes supports 5000 nodes. */
export const REPLICAS: Limits = [0, 10_000];
/** Sizes of volumes, in GB or GiB. */
export const VOLUME_SIZES: Limits = [1, 65_536];

/** Returns the issue of a number that is not whole or outside its limits, or undefined. */
export function wholeNumberIssue(value: number, [least, most]: Limits): string | undefined {
  if (!Number.isSafeInteger(value)) return `is ${value}; write a whole number`;
  if (value < least) return `is ${value}; write ${least} or more`;
  return value > most ? `is ${value}; write ${most} or less` : undefined;
}
