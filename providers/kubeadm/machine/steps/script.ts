import { NODE_PATHS } from "../../plan/node-paths";

/** The remote steps, in the order in which a machine meets them. */
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

/** A script for one machine: run as root with bash, its secret data following on standard input. */
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
 * Shell lines that bring a file to a text through a quoted here-document. It is replaced atomically, and only
 * when its text differs: then the shell's `changed` becomes yes.
 */
export function writeFile(path: string, content: string, mode = "0600"): string {
  const body = content.endsWith("\n") ? content : `${content}\n`;
  let end = "FORESAIL_END_OF_FILE";
  // a file that itself writes files holds the mark of theirs
  while (`\n${body}`.includes(`\n${end}\n`)) end += "_";
  const fresh = quote(`${path}.foresail-new`);
  return [
    // a folder that others have to pass through is not for root alone
    `(umask 022; mkdir -p "$(dirname ${quote(path)})")`,
    `cat > ${fresh} <<'${end}'`,
    `${body}${end}`,
    `chmod ${mode} ${fresh}`,
    `if ! cmp --silent ${fresh} ${quote(path)}; then changed=yes; fi`,
    `mv -f ${fresh} ${quote(path)}`,
  ].join("\n");
}

/**
 * Frames the body of a remote step: strict mode, the machine's lock, and all output into a root-only log
 * file, so that a lost connection does not end a step half-way and nothing is printed where secrets could
 * leak. The log says when each run began and ended, and how. File descriptor 4 is the answer to the caller, 5 brings the step's secret data; on failure the last
 * log lines go to standard error.
 *
 * @param lockSeconds how long to wait for a step that still runs on this machine; then exit code 75
 */
export function frame(operation: Operation, machine: string, body: string, lockSeconds = 1200): Script {
  const log = `${NODE_PATHS.logs}/${operation}.log`;
  const text = [
    `# foresail: ${operation} ${machine}`,
    "set -euo pipefail",
    "umask 077",
    "export LC_ALL=C DEBIAN_FRONTEND=noninteractive",
    `mkdir -p ${NODE_PATHS.logs} /etc/foresail /var/lib/foresail`,
    // no program of a step may swallow the data meant for the step itself
    "exec 3>&2 4>&1 5<&0 </dev/null",
    `exec 9>>${NODE_PATHS.lock}`,
    `flock -w ${lockSeconds} 9 || { echo "another foresail step still runs on this machine (${NODE_PATHS.lock}); try again when it has ended" >&3; exit 75; }`,
    `exec >>${log} 2>&1`,
    `echo "== $(date -u +%FT%T.%3NZ) ${operation}"`,
    `log_start=$(wc -l < ${log})`,
    // one step at a time holds the lock, so the folder for its temporary secrets needs no random name
    `scratch=${NODE_PATHS.scratch}; rm -rf $scratch; mkdir $scratch`,
    `trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) ${log} | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) ${operation} ended with $status"; exit $status' EXIT`,
    'fail() { echo "$1"; exit "${2:-1}"; }',
    body,
    "exit 0",
  ].join("\n");
  return { operation, machine, text };
}
