import type { Writable } from "node:stream";
import { etcdSnapshotScript, SNAPSHOT_SECONDS } from "../machine/backup/backup-steps";
import { withOwner } from "../machine/steps";
import { type BackupSettings, type KeptSnapshot, snapshotMachine } from "../plan/backup/backup";
import type { Machine } from "../plan/cluster/machine";
import { type MachineAccess, runOnMachine } from "./machine-access";
import { writeSnapshot } from "./snapshot-files";

/** Takes a snapshot from the first control plane, outside of a run. @param warn prints a line @throws what writeSnapshot throws */
export async function takeSnapshot(
  access: MachineAccess,
  machines: readonly Machine[],
  backup: BackupSettings,
  warn: (line: string) => void,
): Promise<KeptSnapshot> {
  const machine = snapshotMachine(machines);
  if (machine === undefined) throw new Error("the stack has no control plane");
  const script = withOwner(etcdSnapshotScript(access.cluster, machine.name), access.owner);
  const asked = { cluster: access.cluster, stack: access.owner?.id ?? "", machine: machine.name };
  const fill = (sink: Writable) =>
    runOnMachine(access, machine, script, { sink, stepSeconds: SNAPSHOT_SECONDS });
  return writeSnapshot(backup, asked, fill, { warn });
}
