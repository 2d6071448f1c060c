import type { Command } from "commander";
import { pageOf } from "../lib/pages";
import type { BackupListOptions, BackupOptions, BackupVerifyOptions } from "./commands/backup";
import type { KubeconfigOptions } from "./commands/kubeconfig";
import type { RestoreOptions } from "./commands/restore";
import type { SshOptions } from "./commands/ssh";
import type { HistoryOptions, StatusOptions } from "./commands/status";
import { addCommand, driftOutput, running, STACK } from "./terminal/command";
import { exitCodesHelp } from "./terminal/exit-codes";

const STATUS_NOTES = `
It asks the cluster, and shows what the node agents report. It changes nothing.
`;
const KUBECONFIG_NOTES = `
The cluster signs the certificate; the key is made here and printed with it. A certificate can't be taken back before its end.
`;

const SSH_NOTES = `
It logs in as foresail does: with the key, the pinned host key and the jump host of the stack's state. No key is written to a file.
A command's exit code is that of this command.

  foresail ssh cp-1
  foresail ssh w-1 -- sudo journalctl -u kubelet --since -10m
`;

/** Adds the commands about a running cluster: status, history, kubeconfig and ssh. */
export function addClusterCommands(program: Command): void {
  addCommand(program, "status", STATUS_NOTES)
    .description("show nodes, versions, certificates, etcd, drift and running changes of a cluster")
    .option(...STACK)
    .addOption(driftOutput())
    .action(running<StatusOptions>(async () => (await import("./commands/status.js")).status));
  addCommand(program, "history")
    .description("show what foresail did to the nodes of a cluster, the newest last")
    .option(...STACK)
    .option("--last <number>", "how many lines", "20")
    .addOption(driftOutput())
    .action(running<HistoryOptions>(async () => (await import("./commands/status.js")).history));
  addCommand(program, "kubeconfig", KUBECONFIG_NOTES)
    .description("print a kubeconfig whose certificate ends soon")
    .option(...STACK)
    .option("--ttl <duration>", "how long it is valid, from 10m to 720h", "1h")
    .option("--user <name>", "the user; default: foresail: and your name on this machine")
    .option("--group <name...>", "groups of the user; default: kubeadm's administrators", [])
    .action(running<KubeconfigOptions>(async () => (await import("./commands/kubeconfig.js")).kubeconfig));
  addCommand(program, "ssh", SSH_NOTES)
    .description("log in to a machine of a stack, or run a command on it")
    .argument("<machine>", "its name in the configuration")
    .argument("[command...]", "after --; a login shell without it")
    .option(...STACK)
    .action(async (machine: string, command: string[], options: Omit<SshOptions, "machine" | "command">) => {
      const { sshToMachine } = await import("./commands/ssh.js");
      process.exitCode = await sshToMachine({ ...options, machine, command });
    });
}

const BACKUP_NOW_NOTES = `
It takes the snapshot from the first control plane, and keeps it as cluster.backup says, as an up does before control planes change.
`;
const BACKUP_VERIFY_NOTES = `
Without --identity, it compares the file with what was written. With it, the whole snapshot is read, and etcd's own digest compared.
`;

/** Adds the commands about snapshots of etcd. */
export function addBackupCommands(program: Command): void {
  const backup = program.command("backup").description("commands about snapshots of etcd (cluster.backup)");
  const add = (name: "now" | "list" | "verify", notes = "") =>
    backup
      .command(name)
      .option(...STACK)
      .addHelpText("after", () => notes + exitCodesHelp(`backup ${name}`));
  add("now", BACKUP_NOW_NOTES)
    .description("take a snapshot, and remove those that do not stay")
    .action(running<BackupOptions>(async () => (await import("./commands/backup.js")).backupNow));
  add("list")
    .description("show the snapshots in the folder, the newest first")
    .addOption(driftOutput())
    .action(running<BackupListOptions>(async () => (await import("./commands/backup.js")).backupList));
  add("verify", BACKUP_VERIFY_NOTES)
    .description("check the newest snapshot, or the named ones")
    .option("--file <name...>", "names of snapshots, as `backup list` shows them", [])
    .option("--identity <file>", "a private key of age, to read the whole snapshot")
    .action(running<BackupVerifyOptions>(async () => (await import("./commands/backup.js")).backupVerify));
}

const RESTORE_NOTES = `
It shows every step, and what is lost, and asks. After an interruption the same command continues. The page ${pageOf("recovery")} says when to use it.
`;

/** Adds the command restore, which rebuilds a lost control plane from a snapshot. */
export function addRestoreCommand(program: Command): void {
  addCommand(program, "restore", RESTORE_NOTES)
    .description("rebuild the control plane on its machines from a snapshot, when all of it is lost")
    .option(...STACK)
    .requiredOption("--from <file>", "the snapshot (.age)")
    .requiredOption("--identity <file>", "the private key of age")
    .option("--gone <name...>", "other control planes that are dead or switched off for good", [])
    .option("--discard-living", "restore although an API server answers", false)
    .option("--yes", "do not ask", false)
    .action(running<RestoreOptions>(async () => (await import("./commands/restore.js")).restore));
}
