import { acceptDriftScript, driftScript, parseDriftAnswer } from "../machine/drift/drift-steps";
import { withOwner } from "../machine/steps";
import type { Machine } from "../plan/cluster/machine";
import type { DriftAnswer } from "../plan/drift/drift";
import { type MachineAccess, runOnMachine } from "./machine-access";

/** Reads what others changed on a machine. Writes nothing on it. @throws the SSH client's typed errors */
export async function readDrift(access: MachineAccess, machine: Machine): Promise<DriftAnswer> {
  const answer = await runOnMachine(access, machine, driftScript(access.cluster, machine.name));
  return parseDriftAnswer(answer, access.secretFiles);
}

/** Takes a file as it is on a machine for the one that foresail wrote. @throws the SSH client's typed errors */
export async function acceptDrift(access: MachineAccess, machine: Machine, file: string): Promise<void> {
  const script = acceptDriftScript(access.cluster, machine.name, file);
  await runOnMachine(access, machine, withOwner(script, access.owner));
}
