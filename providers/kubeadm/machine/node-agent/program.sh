# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # parts of one program
# needs: common/system common/certificates common/static-pods node-agent/drift node-agent/endings node-agent/going-back node-agent/agent node-agent/node node-agent/comparison node-agent/changes node-agent/changed-configuration node-agent/kubelet node-agent/updates
# replaces: fail
unfinished=no
failures=0 failed_request="" not_before=0 longer_pause=0

# Brings the machine to what a node needs: kernel settings, no swap, containerd, Kubernetes' programs. The ready file is
# read over SSH.
initialize() {
  local one sysctl=$ROOT/etc/sysctl.d/90-foresail.conf
  if [ -e "$initialized" ] && [ "${is_initialized-}" = yes ]; then return 0; fi
  rm -f "$initialized"
  exchange_certificate || return 1
  if [ -e "$sysctl" ]; then sysctl --quiet --ignore --load="$sysctl"; fi
  # inside a container the swap is the host's, and on an adopted machine its administrator decided about it
  if ! is_container && ! is_adopted && ! runs_with_swap && [ -n "$(swapon --noheadings --show 2>/dev/null)" ]; then say "turn swap off"; swapoff -a; fi
  if ! systemctl is-active --quiet containerd; then
    attempt "start containerd" systemctl start containerd || return 1
  fi
  for one in kubeadm kubelet kubectl; do
    if [ -z "$(found "$one")" ]; then failure="$one is not on this machine"; return 1; fi
  done
  # a machine that joined under another name keeps its own: the kubelet has a flag with the Node's
  if [ "$(hostname)" != "$node" ]; then say "this machine calls itself $(hostname); its Node is $node"; fi
  printf '%s\n' "$AGENT_VERSION" >"$initialized"
  is_initialized=yes
}

# The requests that failed for good, as "software@version" of each, or "back" when going back did; the run that asked ends then.
# It removes them to try again.
key_final=${key_ready%/ready}/final-failure
is_final_published=no

# Prints what the annotations ask for.
requested() {
  local one words=""
  if asks_back; then printf back; return 0; fi
  for one in "${software[@]}"; do if [ -n "${wanted[$one]}" ]; then words+="${words:+ }$one@${wanted[$one]}"; fi; done
  printf '%s' "$words"
}

fail() {
  local pause_seconds
  if [ "$failed_request" != "$request" ]; then failures=0; fi
  say "failed: $1"
  failures=$((failures + 1)) failed_request=$request
  pause_seconds=$((retry_seconds * (1 << (failures < 7 ? failures - 1 : 6))))
  # a try that only waits needs no longer pause
  if [ "$is_awaited" = yes ]; then pause_seconds=$retry_seconds; fi
  not_before=$((SECONDS + (pause_seconds > 300 ? 300 : pause_seconds) + longer_pause))
  longer_pause=0
  compare
  changes=()
  note_found
  note "$key_message" "$1$([ "$failures" = 1 ] || [ "$is_final" = yes ] || say " (try $failures)")"
  if [ "$is_final" = yes ]; then note "$key_final" "$(requested)"; else forget "$key_final"; fi
  is_final_published=no
  if publish && [ "$is_final" = yes ]; then is_final_published=yes; fi
}

# Tells whether the last failure still holds: its pause has not ended, and no run asks to try again.
is_pausing() {
  [ "$request" = "$failed_request" ] && [ "$SECONDS" -lt "$not_before" ] && { [ "$is_final_published" = no ] || [ -n "${annotation[$key_final]-}" ]; }
}

is_unfinished() { [ "$unfinished" != no ]; }

# Tells whether a change of Kubernetes' version was interrupted. Only then kubeadm upgrade runs as a whole again: it writes the
# cluster's configuration, so that what a configuration's second try keeps would not be the files of before.
may_be_half_upgraded() { [ "$unfinished" = upgrading ] || [ "$unfinished" = yes ]; }
is_pending() { [ ${#due[@]} -gt 0 ] || is_unfinished; }
is_allowed() { [ "${annotation[$key_allowed]-}" = true ]; }

# Records for the next start and round. This round changes only what is due.
remember_unfinished() { if [ "$mode" != dry-run ]; then printf '%s' "$1" >"$unfinished_file"; fi; }
remember_begun() { if is_unfinished; then remember_unfinished "$unfinished"; else remember_unfinished begun; fi; }

# Reads the Node again after ready=false was written, and tells whether it still asks for the same. A run that replaced the request
# before that write takes the node for one that was never asked; one that does so after this reading waits.
is_still_asked() {
  local before=$request
  read_node || return 1
  compare
  [ "$request" = "$before" ]
}

# Records again what was so before a change that did not begin.
abandon() {
  say "the Node asks for something else by now"
  remember_unfinished "$unfinished"
  if is_unfinished; then return 0; fi
  changes=()
  note "$key_ready" true
  publish
}

# Others may be able to write the annotations, so what is unfinished comes from this machine's own file. Agents before
# 1.2.0 had only the annotation, which is read once: when there is no such file yet.
observe() {
  if [ "$is_read" = no ]; then read_node || return 1; fi
  is_read=no
  compare
  if [ -e "$unfinished_file" ]; then unfinished=$(<"$unfinished_file"); return 0; fi
  unfinished=no
  if [ "${annotation[$key_ready]-}" = false ]; then unfinished=yes; fi
  remember_unfinished "$unfinished"
}

# Acts on what the Node asks for. Returns 0 when everything allowed is done, 1 after a failure, 75 when the API does not answer yet,
# or when the Node asks for something else by now.
round() {
  local refusal is_fit=yes
  is_awaited=no
  start_stopped_kubelet
  initialize || is_fit=no
  look
  observe || return 75
  if is_pausing; then return 1; fi
  is_final=no
  if [ "$is_fit" = no ]; then fail "$failure"; return 1; fi
  changes=()
  note_found
  if asks_back; then turn_back; return; fi
  if ! is_allowed && ! is_unfinished; then forget_before; fi
  if ! is_pending; then
    if is_allowed; then prepare_upgrade; fi
    finish
    return
  fi
  if ! is_allowed; then
    if is_unfinished; then note "$key_ready" false; else note "$key_ready" true; fi
    publish
    return
  fi
  # nothing else changes the machine meanwhile
  exec 9>>"$ROOT$LOCK_PATH"
  if ! flock --nonblock 9; then
    say "another step of foresail runs on this machine; waiting for its end"
    flock 9 || return 1
    # what was read before the wait may be out of date
    look
    observe || return 75
    if ! is_pending || ! is_allowed; then return 0; fi
  fi
  refusal=$(refuse) || is_final=yes
  if [ -n "$refusal" ]; then fail "$refusal"; return 1; fi
  changes=()
  note_found
  forget "$key_final"
  note "$key_ready" false
  if ! is_unfinished; then remember_drift; remember_before; fi
  remember_begun
  publish || return 1
  if ! is_still_asked; then abandon; return 75; fi
  if ! change; then fail "$failure"; return 1; fi
  keep_own_work
  compare
  if [ ${#due[@]} -gt 0 ]; then fail "installed, but ${due[0]} is still ${have[${due[0]}]:-missing} and not ${wanted[${due[0]}]}"; return 1; fi
  remember_unfinished no
  changes=()
  note_found
  finish
}

finish() {
  note "$key_ready" true
  forget "$key_message"
  forget "$key_final"
  publish || return 1
  failures=0 failed_request=""
}

# Prints what a round would do now, or for another version of Kubernetes, and whether its source has it.
dry_run() {
  local refusal
  if [ "$asked" = annotations ]; then look; observe || return 75; else compare; fi
  if ! is_pending; then say "nothing to do"; return 0; fi
  if [ "$asked" = annotations ] && ! is_allowed; then say "nothing happens unless $key_allowed is \"true\"; then:"; fi
  refusal=$(refuse)
  if [ -n "$refusal" ]; then say "would refuse: $refusal"; return 65; fi
  changes=("$key_ready=false")
  publish
  if ! change; then say "would fail: $failure"; return 66; fi
  changes=("$key_ready=true")
  publish
}

# Waits until the Node or a managed file changes, but no longer than the given seconds.
rest() {
  local until=$((SECONDS + $1)) seconds
  while [ "$SECONDS" -lt "$until" ]; do
    seconds=$((until - SECONDS))
    if wait_for_change $((seconds < 60 ? seconds : 60)); then return 0; fi
    if is_touched; then return 0; fi
  done
}

patience() {
  if has_to_fetch && [ "$failures" = 0 ]; then echo 1; return; fi
  if [ "$failures" = 0 ]; then if [ -z "$shortage" ]; then echo 300; else echo 60; fi; return; fi
  echo $((not_before > SECONDS ? not_before - SECONDS : 1))
}

main() {
  local status
  add_patches
  arguments=("$@")
  case ${1-} in
  "") ;;
  --once) mode=once ;;
  --dry-run) mode=dry-run asked=${2:-annotations} ;;
  --drift) mode=dry-run; print_drift; exit ;;
  --accept) accept_drift "${2-}"; exit ;;
  *) say "usage: node-agent [--once | --dry-run [VERSION] | --drift | --accept PATH]"; exit 64 ;;
  esac
  if [ "$mode" = dry-run ]; then
    output=$(mktemp)
    trap 'rm -f "$output"' EXIT
    dry_run
    exit
  fi
  mkdir -p "$folder"
  exec 8>>"$ROOT/run/foresail-node-agent.lock"
  if ! flock --nonblock 8; then say "another node agent runs on this machine; waiting for its end"; flock 8 || exit 1; fi
  trap stop_watching EXIT
  say "node agent $AGENT_VERSION of $node"
  await_membership
  while :; do
    round
    status=$?
    exec 9>&-
    if [ "$mode" = once ]; then exit "$status"; fi
    if [ "$status" = 75 ]; then pause 2; else rest "$(patience)"; fi
  done
}
main "$@"; exit
