# shellcheck shell=bash
# Frames a step: strict mode, the machine's lock, and all output in a log file that only root can read, so that a lost
# connection does not end a step halfway and no secrets are printed. The log records when each run began and ended, and
# its exit code. File descriptor 4 is the answer to the caller, 5 provides the step's secret data. On failure the last
# log lines go to standard error, or what else says why: no step fails without words.
# Parameters: OPERATION
set -euo pipefail
umask 077
export DEBIAN_FRONTEND=noninteractive
# a disk that is full or read-only leaves no words in the log
refuse_disk() {
  echo "$1. Free space on that disk or repair it (df -h and dmesg show which), then run the command again" >&2
  exit 74
}
words=$(mkdir -p "$LOGS_PATH" /etc/foresail /var/lib/foresail 2>&1) || refuse_disk "$words"
# a step whose caller is gone can't write its answer, and still has to record how it ended; its programs keep the default
trap : PIPE
# no program of a step may read the data meant for the step itself
exec 3>&2 4>&1 5<&0 </dev/null
exec 9>>"$LOCK_PATH"
lock_seconds=1200
# A step that waits for the lock ends with its caller, so that it never runs after its run has ended: then a blank line
# can't be written.
waited=0
until flock -w 1 9; do
  waited=$((waited + 1))
  if [ "$waited" -ge "$lock_seconds" ]; then
    echo "another foresail step still runs on this machine ($LOCK_PATH); try again when it has ended" >&3
    exit 75
  fi
  echo >&3 || exit 75
done
if [ "$waited" -gt 0 ]; then echo >&3 || exit 75; fi
# on some systems a service may write in the folder above, and could lead root to other files
if ! cd -P "$LOGS_PATH" || [ "$(readlink /proc/self/cwd)" != "$(readlink -f "${LOGS_PATH%/*}")/${LOGS_PATH##*/}" ] ||
  ! stat --format='%u %A' . | grep -q "^$EUID .....-..-"; then
  echo "$LOGS_PATH is not a folder in which only root may write, so nothing was done; run there: rm -rf $LOGS_PATH" >&3
  exit 73
fi
begun="== $(date -u +%FT%T.%3NZ) $OPERATION"
words=$(printf '%s\n' "$begun" 2>&1 >>"./$OPERATION.log") || refuse_disk "$LOGS_PATH/$OPERATION.log: ${words##*: }"
exec >>"./$OPERATION.log" 2>&1
cd /
log=/proc/$$/fd/1
log_start=$(wc -l <"$log")

# Prints why the step fails: EXIT_CODE COMMAND (which ended it) LINES (of its log).
explain_failure() {
  local folder lines=$3
  if [ -z "$lines" ]; then lines="the command \"$2\" ended with $1 and printed nothing"; fi
  printf '%s\n' "$lines"
  for folder in "$LOGS_PATH" /var/lib/foresail /etc/foresail; do
    { printf '%8192s' "" >"$folder/foresail-space"; } 2>/dev/null || echo "$folder can't be written: free space on its disk (df -h), then run the command again"
    rm -f "$folder/foresail-space" || true
  done
  if [ -n "$hint" ]; then printf '%s\n' "$hint"; fi
}
# a possible reason that no program knows; a step may set it
hint=""

end_step() {
  local lines
  rm -rf "$SCRATCH_PATH"
  # before the redirection: the log is this shell's standard output
  lines=$(tail -n +$((log_start + 1)) "$log" | { grep -v '^== did ' || true; } | tail -n 20) || true
  if [ "$1" -ne 0 ]; then { explain_failure "$@" "$lines" >&3; } 2>/dev/null || true; fi
  echo "== $(date -u +%FT%T.%3NZ) $OPERATION ended with $1"
  exit "$1"
}
trap 'end_step $? "$BASH_COMMAND"' EXIT
# only one step at a time has the lock, so the folder for its temporary secrets needs no random name
rm -rf "$SCRATCH_PATH"
mkdir "$SCRATCH_PATH"
