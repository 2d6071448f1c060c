/** The variable that specifies what the measured program creates. */
export const MACHINES_VARIABLE = "FORESAIL_BENCH_MACHINES";

/** VMs that a CB-Tumblebug server has to create: one control plane, and the workers of each connection. */
export interface DesiredMachines {
  readonly address: string;
  readonly generation: "mcis" | "infra";
  readonly connections: readonly string[];
  /** In each connection. */
  readonly workers: number;
}

/** Returns what the program has to create. @throws Error when the variable is not set */
export function wantedMachines(environment: NodeJS.ProcessEnv = process.env): DesiredMachines {
  const text = environment[MACHINES_VARIABLE];
  if (text === undefined) throw new Error(`${MACHINES_VARIABLE} has to specify the machines`);
  return JSON.parse(text) as DesiredMachines;
}
