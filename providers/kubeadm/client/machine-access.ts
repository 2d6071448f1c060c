import type { Readable, Writable } from "node:stream";
import type { Owner } from "../../../lib/ownership/owner";
import { runScript, SshConnection } from "../../../lib/ssh";
import type { Script } from "../machine/steps";
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

/** What a step reads and answers as streams. */
interface Streams {
  readonly input?: Readable;
  readonly sink?: Writable;
  /** Time limit of the step, if it is not that of the machine's answer. */
  readonly stepSeconds?: number;
}

/** Runs one step on a machine over a connection of its own. @returns its answer @throws the SSH client's typed errors */
export async function runOnMachine(
  { credentials, jumpHost, seconds }: Pick<MachineAccess, "credentials" | "jumpHost" | "seconds">,
  machine: Machine,
  script: Script,
  { stepSeconds = seconds, ...streams }: Streams = {},
): Promise<string> {
  const connection = await SshConnection.open(sshTarget(machine, credentials, jumpHost), { seconds });
  try {
    return (await runScript(connection, { ...script, ...streams, seconds: stepSeconds })).stdout;
  } finally {
    connection.close();
  }
}
