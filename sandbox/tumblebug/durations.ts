/** How long the calls of one generation block, in milliseconds. */
export interface Durations {
  /** of creating a VM in the cloud; the VMs of one request are created at the same time */
  readonly creation: number;
  /** of terminating VMs at the same time; the call answers when all have ended */
  readonly termination: number;
  /** how many VMs a server terminates at the same time */
  readonly terminatedTogether: number;
  /** of the first read after VMs ended: the server asks the cloud for each of them repeatedly */
  readonly confirmation: number;
  /** of deleting a VM's record, besides its termination */
  readonly removal: number;
}

/**
 * The durations of the recorded servers (`test/fixtures/tumblebug`): VMs of 0.7.0 start at a random moment within 30 s
 * and are terminated one after the other, and a read of ended ones is retried 5 times; those of 0.13 take the cloud's
 * half minute, a few at a time.
 */
const RECORDED_DURATIONS: Readonly<Record<"mcis" | "infra", Durations>> = {
  mcis: { creation: 20_000, termination: 3000, terminatedTogether: 1, confirmation: 25_000, removal: 5000 },
  infra: { creation: 3000, termination: 30_000, terminatedTogether: 2, confirmation: 0, removal: 5000 },
};

/**
 * Scales the recorded durations.
 * @param pace 1 blocks as long as the recorded server, 0 not at all
 */
export function durationsAt(
  generation: "mcis" | "infra",
  pace: number,
  overridden: Partial<Durations> = {},
): Durations {
  const recorded = RECORDED_DURATIONS[generation];
  return {
    creation: recorded.creation * pace,
    termination: recorded.termination * pace,
    terminatedTogether: recorded.terminatedTogether,
    confirmation: recorded.confirmation * pace,
    removal: recorded.removal * pace,
    ...overridden,
  };
}
