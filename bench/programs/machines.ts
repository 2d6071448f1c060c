/** The variable that tells the measured program what to make. */
export const MACHINES_VARIABLE = "FORESAIL_BENCH_MACHINES";

/** VMs that a CB-Tumblebug server is to make: one control plane, and the workers of each connection. */
export interface DesiredMachines {
  readonly address: string;
  readonly generation: "mcis" | "infra";
  readonly connections: readonly string[];
  /** In each connection. */
  readonly workers: number;
}

/** What the program is to make. @throws Error when nothing says so */
export function wantedMachines(environment: NodeJS.ProcessEnv = process.env): DesiredMachines {
  const text = environment[MACHINES_VARIABLE];
  if (text === undefined) throw new Error(`${MACHINES_VARIABLE} has to say what to make`);
  return JSON.parse(text) as DesiredMachines;
}
