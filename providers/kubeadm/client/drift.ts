import type { Owner } from "../../../lib/ownership/owner";
import { runScript, SshConnection } from "../../../lib/ssh";
import { acceptDriftScript, driftScript, parseDriftAnswer } from "../machine/drift/drift-steps";
import { type Script, withOwner } from "../machine/steps";
import type { DriftAnswer } from "../plan/drift/drift";
import type { JumpHost, Machine, SshCredentials } from "../plan/cluster/machine";
import { sshTarget } from "./ssh-target";

/** How to reach the machines of a cluster. */
export interface MachineAccess {
  readonly cluster: string;
  readonly credentials: SshCredentials;
  readonly jumpHost?: JumpHost;
  /** The stack in whose state the cluster is; absent in state of earlier releases. */
  readonly owner?: Owner;
  /** Paths of files whose content is secret, which is never shown. */
  readonly secretFiles?: readonly string[];
  /** Time limit for a machine to answer, and then for what it does. */
  readonly seconds: number;
}

/** Reads what others changed on a machine. Writes nothing on it. @throws the SSH client's typed errors */
export async function readDrift(access: MachineAccess, machine: Machine): Promise<DriftAnswer> {
  const answer = await run(access, machine, driftScript(access.cluster, machine.name));
  return parseDriftAnswer(answer, access.secretFiles);
}

/** Takes a file as it is on a machine for the one that foresail wrote. @throws the SSH client's typed errors */
export async function acceptDrift(access: MachineAccess, machine: Machine, file: string): Promise<void> {
  const script = acceptDriftScript(access.cluster, machine.name, file);
  await run(access, machine, withOwner(script, access.owner));
}

async function run(
  { credentials, jumpHost, seconds }: MachineAccess,
  machine: Machine,
  script: Script,
): Promise<string> {
  const connection = await SshConnection.open(sshTarget(machine, credentials, jumpHost), { seconds });
  try {
    return (await runScript(connection, { ...script, seconds })).stdout;
  } finally {
    connection.close();
  }
}
