import { NODE_PATHS } from "../../plan/node-paths";

/** The remote steps, in the order in which they run on a machine. */
export type Operation =
  | "prepare"
  | "facts"
  | "initialized"
  | "init"
  | "admin-kubeconfig"
  | "control-plane-secrets"
  | "join-control-plane"
  | "join-worker"
  | "register"
  | "endpoint"
  | "node-agent"
  | "etcd-members"
  | "etcd-remove"
  | "leave-control-plane"
  | "reset";

/** A script for one machine. It runs as root with bash; its secret data follows on standard input. */
export interface Script {
  operation: Operation;
  machine: string;
  text: string;
}

/** Quotes a word for a POSIX shell. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns shell lines that write a file from a quoted here-document. They replace it atomically, and set the shell's
 * `changed` to yes only when its text differs.
 */
export function writeFile(path: string, content: string, mode = "0600"): string {
  const body = content.endsWith("\n") ? content : `${content}\n`;
  let end = "FORESAIL_END_OF_FILE";
  // a file that itself writes files contains their end marker
  while (`\n${body}`.includes(`\n${end}\n`)) end += "_";
  const fresh = quote(`${path}.foresail-new`);
  return [
    // other users need access to the parent folder, so it is not only for root
    `(umask 022; mkdir -p "$(dirname ${quote(path)})")`,
    `cat > ${fresh} <<'${end}'`,
    `${body}${end}`,
    `chmod ${mode} ${fresh}`,
    `if ! cmp --silent ${fresh} ${quote(path)}; then changed=yes; fi`,
    `mv -f ${fresh} ${quote(path)}`,
  ].join("\n");
}

/**
 * Frames the body of a remote step: strict mode, the machine's lock, and all output in a root-only log file, so that a
 * lost connection does not end a step halfway and no secrets are printed. The log records when each run began and
 * ended, and its exit code. File descriptor 4 is the answer to the caller, 5 provides the step's secret data. On
 * failure the last log lines go to standard error.
 *
 * @param lockSeconds how long to wait for another step on this machine; then exit code 75
 */
export function frame(operation: Operation, machine: string, body: string, lockSeconds = 1200): Script {
  const log = `${NODE_PATHS.logs}/${operation}.log`;
  const text = [
    `# foresail: ${operation} ${machine}`,
    "set -euo pipefail",
    "umask 077",
    "export LC_ALL=C DEBIAN_FRONTEND=noninteractive",
    `mkdir -p ${NODE_PATHS.logs} /etc/foresail /var/lib/foresail`,
    // no program of a step may read the data meant for the step itself
    "exec 3>&2 4>&1 5<&0 </dev/null",
    `exec 9>>${NODE_PATHS.lock}`,
    `flock -w ${lockSeconds} 9 || { echo "another foresail step still runs on this machine (${NODE_PATHS.lock}); try again when it has ended" >&3; exit 75; }`,
    `exec >>${log} 2>&1`,
    `echo "== $(date -u +%FT%T.%3NZ) ${operation}"`,
    `log_start=$(wc -l < ${log})`,
    // only one step at a time has the lock, so the folder for its temporary secrets needs no random name
    `scratch=${NODE_PATHS.scratch}; rm -rf $scratch; mkdir $scratch`,
    `trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) ${log} | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) ${operation} ended with $status"; exit $status' EXIT`,
    'fail() { echo "$1"; exit "${2:-1}"; }',
    body,
    "exit 0",
  ].join("\n");
  return { operation, machine, text };
}
