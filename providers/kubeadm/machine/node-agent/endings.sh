# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # program.sh sets and reads the others
# Notices programs of Kubernetes that keep ending: they refuse their settings, and waiting does not help. Part of
# program.sh, whose variables it uses.

# Exit code of what fails in the same way each time, as of installers.
FINAL=65

# Prints the folder with the logs of the newest container of a static pod, and how often it was started again: NAME.
starts_of() {
  local logs
  # shellcheck disable=SC2012 # names from the kubelet
  logs=$(ls -td "$ROOT/var/log/pods/kube-system_$1-$node"_*/"$1" 2>/dev/null | head -n 1)
  say "$logs" "$(find "${logs:-/nowhere}" -maxdepth 1 -name '*.log' -printf '%f\n' 2>/dev/null | sed -n 's/^\([0-9]*\)\.log$/\1/p' | sort -n | tail -n 1)"
}

declare -A starts
# Records the starts of the static pods before a change.
remember_starts() {
  local name
  for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do starts[$name]=$(starts_of "$name"); done
}

# What a static pod ends without.
declare -A needs=([kube-apiserver]=etcd [kube-controller-manager]=kube-apiserver [kube-scheduler]=kube-apiserver)

# Takes the starts of a static pod until now for none while what it needs does not answer, so that the end of an API server
# that takes its time is not final: NAME.
forgive_starts() {
  if [ -n "${needs[$1]-}" ] && ! is_static_pod_healthy "${needs[$1]}"; then starts[$1]=$(starts_of "$1"); fi
}

# Prints why a static pod keeps ending since remember_starts, with its own last words; fails when it does not: NAME.
keeps_ending() {
  local logs times words before=0
  read -r logs times < <(starts_of "$1")
  if [ "${starts[$1]% *}" = "$logs" ]; then before=${starts[$1]##* }; fi
  if [ -z "$logs" ] || [ "${times:-0}" -lt $((${before:-0} + 2)) ]; then return 1; fi
  words=$({ last_words <"$logs/$((times - 1)).log"; } 2>/dev/null)
  # the kubelet removes the log of an older container
  if [ -z "$words" ]; then words=$({ last_words <"$logs/$times.log"; } 2>/dev/null); fi
  say "$1 ended three times right after its start; its last words: $words"
}

# Runs a program that waits for static pods, and ends it when one of them keeps ending: kubeadm would wait five minutes.
until_static_pod_fails() {
  local child name
  "$@" &
  child=$!
  while kill -0 "$child" 2>/dev/null; do
    for name in kube-apiserver kube-controller-manager kube-scheduler; do
      forgive_starts "$name"
      keeps_ending "$name" || continue
      kill "$child"
      wait "$child" 2>/dev/null
      return "$FINAL"
    done
    sleep 0.5
  done
  wait "$child"
}

# How often systemd has restarted the kubelet by itself.
restarts_of_kubelet() { systemctl show --property=NRestarts --value kubelet 2>/dev/null || true; }
kubelet_restarts=0

# Prints the lines of kubelets that have ended: one that has just started again may have written harmless errors.
lines_of_ended_kubelets() {
  local running
  running=$(systemctl show --property=MainPID --value kubelet 2>/dev/null)
  journalctl --identifier kubelet --output short-unix --no-pager --lines 200 2>/dev/null |
    grep -vF " kubelet[${running:-0}]: " | sed -E 's/^[^ ]+ [^ ]+ kubelet\[[0-9]+\]: //'
}

# Tells whether the kubelet has ended three times since it was restarted; failure then has its own last words.
kubelet_keeps_ending() {
  local now
  now=$(restarts_of_kubelet)
  # the kubelet ends without its container runtime, whatever its settings are
  if ! systemctl is-active --quiet containerd; then kubelet_restarts=$now; fi
  if ! [[ $now =~ ^[0-9]+$ ]] || [ "$now" -lt $((${kubelet_restarts:-0} + 2)) ]; then return 1; fi
  failure="the kubelet ended three times right after its start; its last words: $(lines_of_ended_kubelets | last_words)"
  is_final=yes
}
