import path from "node:path";
import { durationText } from "../../lib/clock";
import { messageOf } from "../../lib/error-message";
import { readGivenFile } from "../../lib/files";
import { displayJson, displayLine } from "../../lib/text/display";
import { takeSnapshot } from "../../providers/kubeadm/client/snapshot";
import { readSnapshot } from "../../providers/kubeadm/client/snapshot-content";
import { digestFault, listSnapshots, removeExpired } from "../../providers/kubeadm/client/snapshot-files";
import {
  type BackupSettings,
  describeSnapshot,
  type KeptSnapshot,
} from "../../providers/kubeadm/plan/backup/backup";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { machinesInState } from "../engine/machines-in-state";
import { exportStack } from "../engine/pulumi";
import { columns } from "../terminal/table";
import { print } from "../terminal/terminal";

export interface BackupOptions {
  readonly stack?: string;
}

export interface BackupListOptions extends BackupOptions {
  readonly output: "text" | "json";
}

export interface BackupVerifyOptions extends BackupOptions {
  /** Names of files in the folder; none for the newest snapshot. */
  readonly file: readonly string[];
  /** File with a private key of age. */
  readonly identity?: string;
}

/** Time limit for a machine to answer. */
const SECONDS = 20;

/** Takes a snapshot of a stack's cluster, and removes those that do not stay. @returns the exit code */
export async function backupNow({ stack }: BackupOptions, say = print): Promise<number> {
  const { backup, ...cluster } = await readBackup(stack, "--show-secrets");
  const kept = await takeSnapshot({ ...cluster, seconds: SECONDS }, cluster.machines, backup, say);
  say(`${kept.machine}: ${describeSnapshot(kept)} is kept as ${path.join(backup.folder, kept.file)}`);
  for (const { file } of await removeExpired(backup, kept)) say(`removed ${file}`);
  return EXIT.done;
}

/** Prints the snapshots of a stack's folder. @returns the exit code */
export async function backupList({ stack, output }: BackupListOptions, say = print): Promise<number> {
  const { backup } = await readBackup(stack);
  const kept = await listSnapshots(backup.folder);
  if (output === "json") say(displayJson({ folder: backup.folder, snapshots: kept }));
  else for (const line of asText(kept, backup.folder)) say(line);
  return EXIT.done;
}

/** Checks snapshots of a stack's folder. @returns the exit code: `failed` if one of them is damaged, or there is none */
export async function backupVerify(
  { stack, file: names, identity }: BackupVerifyOptions,
  say = print,
): Promise<number> {
  const { backup } = await readBackup(stack);
  const identities =
    identity === undefined
      ? undefined
      : await readGivenFile(identity, "the private key", "name it with --identity");
  const kept = await listSnapshots(backup.folder);
  const chosen = names.length === 0 ? kept.slice(0, 1) : names.map((name) => named(kept, name));
  if (chosen.length === 0)
    say(`there is no snapshot in ${backup.folder}; take one with: foresail backup now`);
  let isDamaged = chosen.length === 0;
  for (const each of chosen) {
    const fault = await faultOf(path.join(backup.folder, each.file), each, identities);
    isDamaged ||= fault !== undefined;
    const words = identities === undefined ? "as it was written" : "complete, and etcd's digest fits";
    say(`${each.file}: ${fault === undefined ? `${words}; ${describeSnapshot(each)}` : `damaged: ${fault}`}`);
  }
  return isDamaged ? EXIT.failed : EXIT.done;
}

async function faultOf(file: string, kept: KeptSnapshot, identities?: string): Promise<string | undefined> {
  const fault = await digestFault(file, kept);
  if (fault !== undefined) return fault;
  if (identities === undefined) return undefined;
  return readSnapshot(file, identities).then(
    (read) => ("fault" in read ? read.fault : undefined),
    (error: unknown) => displayLine(messageOf(error)),
  );
}

function named(kept: readonly KeptSnapshot[], name: string): KeptSnapshot {
  const found = kept.find(({ file }) => file === path.basename(name));
  if (found === undefined) throw new UsageError(`--file ${name}: the folder has no such snapshot`);
  return found;
}

function asText(kept: readonly KeptSnapshot[], folder: string): string[] {
  if (kept.length === 0) return [`there is no snapshot in ${folder}`];
  const rows = kept.map(({ file, taken, version, revision, keys, bytes }) => [
    `${durationText(Date.now() - Date.parse(taken))} ago`,
    version,
    String(revision),
    String(keys),
    `${Math.ceil(bytes / 2 ** 20)} MiB`,
    file,
  ]);
  return columns([["TAKEN", "KUBERNETES", "REVISION", "KEYS", "SIZE", "FILE"], ...rows]);
}

/**
 * Reads where a stack keeps its snapshots, and how to reach its machines.
 *
 * @param secrets for the credentials, which most commands don't need
 * @throws UsageError when the stack keeps none
 */
async function readBackup(named: string | undefined, ...secrets: "--show-secrets"[]) {
  const { project, stack, exported } = await exportStack(named, ...secrets);
  const found = machinesInState(exported);
  if (found?.backup === undefined)
    throw new UsageError(`the stack ${stack} keeps no snapshots; set cluster.backup, and run \`up\` once`);
  return { ...found, backup: withFolder(found.backup, project.folder) };
}

const withFolder = (backup: BackupSettings, project: string): BackupSettings => ({
  ...backup,
  folder: path.resolve(project, backup.folder),
});
