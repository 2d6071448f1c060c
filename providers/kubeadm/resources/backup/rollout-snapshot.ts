import type { Writable } from "node:stream";
import { recipientFault } from "../../../../lib/age";
import { messageOf } from "../../../../lib/error-message";
import { RunInterrupted } from "../../../../lib/process/interruption";
import { EngineGone } from "../../../../lib/process/parent-watch";
import { shortened } from "../../../../lib/text/quote";
import { removeExpired, writeSnapshot } from "../../client/snapshot-files";
import { etcdSnapshotScript, SNAPSHOT_SECONDS } from "../../machine/backup/backup-steps";
import {
  type BackupSettings,
  describeSnapshot,
  type KeptSnapshot,
  snapshotMachine,
} from "../../plan/backup/backup";
import { ownerOf } from "../facts/ownership";
import type { RolloutSession } from "../rollout/record";

/** A snapshot failed, so that no control plane was changed. */
class NoSnapshot extends Error {
  readonly next =
    "remove the cause and run the command again, or remove `cluster.backup` to change control planes without a snapshot; nothing was changed on them";

  constructor(machine: string, cause: unknown) {
    super(`${machine}: no snapshot of etcd, so no control plane changes: ${messageOf(cause)}`, { cause });
  }
}

/** Takes the snapshot that has to exist before a control plane changes, and removes those that do not stay. */
export async function takeRolloutSnapshot(session: RolloutSession, backup: BackupSettings): Promise<void> {
  const { inputs, progress } = session;
  const machine = snapshotMachine(inputs.machines);
  if (machine === undefined) return;
  let kept: KeptSnapshot;
  try {
    const asked = {
      cluster: session.cluster,
      stack: ownerOf(inputs)?.id ?? "",
      machine: machine.name,
    };
    const fill = (sink: Writable) =>
      session.run(machine, etcdSnapshotScript, { seconds: SNAPSHOT_SECONDS, sink });
    kept = await writeSnapshot(backup, asked, fill, { warn: progress });
    progress(`${machine.name}: ${describeSnapshot(kept)} is kept as ${kept.file}`);
  } catch (error) {
    if (error instanceof RunInterrupted || error instanceof EngineGone) throw error;
    throw new NoSnapshot(machine.name, error);
  }
  // what is there too long hinders no rollout
  const removed = await removeExpired(backup, kept).catch((error: unknown) => {
    progress(`older snapshots could not be removed: ${messageOf(error)}`);
    return [];
  });
  for (const { file } of removed) progress(`removed the snapshot ${file}`);
}

/** Returns what is wrong with the keys for which a snapshot would be encrypted. */
export async function recipientRefusals({ recipients }: BackupSettings): Promise<string[]> {
  const faults = await Promise.all(
    recipients.map(async (recipient) => {
      const fault = await recipientFault(recipient);
      return fault === undefined ? [] : [`${shortened(recipient, 24)} is not a public key of age: ${fault}`];
    }),
  );
  return faults.flat();
}
