import type { ClusterNodes } from "./cluster-nodes";
import type { FleetConfiguration, FleetFiles, MachineState, Outcome } from "./fleet-files";
import type { ReceivedScript } from "./received-script";

/** Results of a script, beside its effect on the machine's state. */
export interface Result {
  outcome: Outcome;
  stdout?: string;
  stderr?: string;
  exitCode?: number;
}

/** A script that a machine of the simulation runs. */
export interface Setting {
  script: ReceivedScript;
  state: MachineState;
  files: FleetFiles;
  configuration: FleetConfiguration;
  nodes: ClusterNodes;
}

export const DONE: Result = { outcome: "done" };
export const NOTHING: Result = { outcome: "nothing to do" };
export const failed = (stderr: string, exitCode = 1): Result => ({ outcome: "failed", stderr, exitCode });

export function answer(text: string): Result {
  return { outcome: "done", stdout: `${text.trimEnd()}\n` };
}

export const refused = (machine: string, why: string): Result => ({
  outcome: "refused",
  stderr: `${machine}: ${why}`,
  exitCode: 78,
});
