import { etcdSnapshotScript, SNAPSHOT_SECONDS } from "../machine/backup/backup-steps";
import { withOwner } from "../machine/steps";
import { type BackupSettings, type KeptSnapshot, snapshotMachine } from "../plan/backup/backup";
import type { Machine } from "../plan/cluster/machine";
import { type MachineAccess, runOnMachine } from "./machine-access";
import { writeSnapshot } from "./snapshot-files";

/** Takes a snapshot from the first control plane, outside of a run. @throws what writeSnapshot throws */
export async function takeSnapshot(
  access: MachineAccess,
  machines: readonly Machine[],
  backup: BackupSettings,
): Promise<KeptSnapshot> {
  const machine = snapshotMachine(machines);
  if (machine === undefined) throw new Error("the stack has no control plane");
  const script = withOwner(etcdSnapshotScript(access.cluster, machine.name), access.owner);
  return writeSnapshot(backup, (sink) =>
    runOnMachine(access, machine, script, { sink, stepSeconds: SNAPSHOT_SECONDS }),
  );
}
