# shellcheck shell=bash
# The node agent brings this machine to the versions that its Node's annotations ask for, out of what foresail staged here
# and of nothing else. It follows the annotations of its own Node, with the kubelet's credentials. It writes ready=false
# before its first change and ready=true after its last, and everything between can be repeated. A file of root records
# the same, so after a kill at any point, the next start finds it and repeats the same steps.
#   --once               looks once, does what is to be done, and ends
#   --dry-run [VERSION]  says what it would do, now or for that version of Kubernetes, and changes nothing
#   --drift              prints what others changed in the files that foresail wrote, and changes nothing
#   --accept PATH        takes such a file as it is now for the one that foresail wrote
# Parameters: AGENT_VERSION, VERSION_PATTERN (of what an annotation may ask for), ROOT (a folder that replaces / in tests)
# shellcheck disable=SC2317 # act and attempt call functions
# shellcheck source=providers/kubeadm/machine/node-agent/drift.sh disable=SC2034,SC2154 # drift.sh precedes this file
set -u -o pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
program=$ROOT$AGENT_PROGRAM_PATH
folder=$ROOT$AGENT_PATH
# else kubectl keeps what it knows of the API in the home of the user who runs it, if there is one
export KUBECACHEDIR=$folder/kubectl-cache
installers=$ROOT$AGENT_INSTALLERS_PATH
# contains the version of each software whose installer has begun and not come to its end
installing=$folder/installing
# contains no, or from before the first change until after the last: begun, upgrading as long as Kubernetes' version may be half
# changed, or upgraded until the kubelet runs with the new one. Agents before 1.13.0 wrote yes for all.
unfinished_file=$folder/unfinished
# contains the configurations whose change has begun since the last one was complete, one a line
changing=$folder/changing
# contains what this machine had when the change began: versions (SOFTWARE VERSION, one a line), ready (what its kubelet had
# reported), and before another version of Kubernetes the files that change with it
before=$folder/before
# exists from the first renewed certificate until everything that reads them has restarted
renewing=$folder/renewing
# of updates of the operating system: pending (their list, when it was last read), begun (the list that is being installed),
# completed (the hash of the last one), and rebooted (the boot from which this machine was rebooted for them)
updates=$folder/os-updates
# contains the installers of the version that ran when others were staged: VERSION/SOFTWARE; no request can name them
former=$folder/former
initialized=$ROOT$AGENT_INITIALIZED_PATH
kubernetes=$ROOT/etc/kubernetes
output=$ROOT/run/foresail-node-agent.words
mode=serve
managed=() drift_mode=report
# sets node, software, revision, kubeadm_flags, retry_seconds, managed, drift_mode, and the keys of the annotations
# shellcheck source=test/unit/golden/node-agent.conf
. "$ROOT$AGENT_CONFIGURATION_PATH"

say() { printf '%s\n' "$*"; }

# Runs a command and logs what it does: WHAT COMMAND... A dry run only logs it.
act() {
  if [ "$mode" = dry-run ]; then say "would $1"; return 0; fi
  say "$1"
  shift
  "$@"
}
