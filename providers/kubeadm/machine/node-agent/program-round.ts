/** The main part of the agent: it reads the Node and acts on it, again and again. */
export const ROUND = `
unfinished=no
failures=0 failed_wish="" not_before=0

# The machine is as a node needs it: kernel settings, no swap, containerd, Kubernetes' programs. The mark is read over SSH.
initialise() {
  local one
  if [ -e "$initialized" ] && [ "\${is_initialised-}" = yes ]; then return 0; fi
  rm -f "$initialized"
  if [ -e "$sysctl_file" ]; then sysctl --quiet --ignore --load="$sysctl_file"; fi
  # inside a container the swap is the host's
  if ! is_container && [ -n "$(swapon --noheadings --show 2>/dev/null)" ]; then say "turn swap off"; swapoff -a; fi
  if ! systemctl is-active --quiet containerd; then
    attempt "start containerd" systemctl start containerd || return 1
  fi
  for one in kubeadm kubelet kubectl; do
    if [ -z "$(found "$one")" ]; then failure="$one is not on this machine"; return 1; fi
  done
  # a machine that was joined under another name keeps its own: the kubelet was told the Node's
  if [ "$(hostname)" != "$node" ]; then say "this machine calls itself $(hostname); its Node is $node"; fi
  printf '%s\\n' "$version" >"$initialized"
  is_initialised=yes
}

fail() {
  local pause_seconds
  say "failed: $1"
  failures=$((failures + 1)) failed_wish=$wish
  pause_seconds=$((retry_seconds * (1 << (failures < 7 ? failures - 1 : 6))))
  not_before=$((SECONDS + (pause_seconds > 300 ? 300 : pause_seconds)))
  compare
  changes=()
  note_found
  note "$key_message" "$1"
  publish
}

is_pending() { [ \${#due[@]} -gt 0 ] || [ "$unfinished" = yes ]; }
is_allowed() { [ "\${annotation[$key_allowed]-}" = true ]; }

look() {
  read_node || return 1
  compare
  unfinished=no
  if [ "\${annotation[$key_ready]-}" = false ]; then unfinished=yes; fi
}

# One look. Ends with 0 when all is done that may be done, 1 after a failure, 75 when the API does not answer yet.
round() {
  local refusal is_fit=yes
  initialise || is_fit=no
  look || return 75
  if [ "$wish" = "$failed_wish" ] && [ "$SECONDS" -lt "$not_before" ]; then return 1; fi
  if [ "$is_fit" = no ]; then fail "$failure"; return 1; fi
  changes=()
  note_found
  if ! is_pending; then
    finish
    return
  fi
  if ! is_allowed; then
    # whoever has never spoken says that nothing is under way
    if [ -z "\${annotation[$key_ready]-}" ]; then note "$key_ready" true; fi
    publish
    return
  fi
  # nothing else changes the machine meanwhile
  exec 9>>"$machine_lock"
  if ! flock --nonblock 9; then
    say "another step of foresail runs on this machine; waiting for its end"
    flock 9 || return 1
    # what was found before the wait may be out of date
    look || return 75
    if ! is_pending || ! is_allowed; then return 0; fi
  fi
  refusal=$(refuse)
  if [ -n "$refusal" ]; then fail "$refusal"; return 1; fi
  changes=()
  note_found
  note "$key_ready" false
  publish || return 1
  if ! change; then fail "$failure"; return 1; fi
  compare
  if [ \${#due[@]} -gt 0 ]; then fail "installed, but \${due[0]} is still \${have[\${due[0]}]:-missing} and not \${wanted[\${due[0]}]}"; return 1; fi
  changes=()
  note_found
  finish
}

finish() {
  note "$key_ready" true
  forget "$key_message"
  publish || return 1
  failures=0 failed_wish=""
}

# Says what a round would do now, or for another version of Kubernetes, and whether its source has it.
dry_run() {
  local refusal
  if [ "$asked" = annotations ]; then look || return 75; else compare; fi
  if ! is_pending; then say "nothing to do"; return 0; fi
  if [ "$asked" = annotations ] && ! is_allowed; then say "nothing happens unless $key_allowed is \\"true\\"; then:"; fi
  refusal=$(refuse)
  if [ -n "$refusal" ]; then say "would refuse: $refusal"; return 65; fi
  changes=("$key_ready=false")
  publish
  if ! change; then say "would fail: $failure"; return 66; fi
  changes=("$key_ready=true")
  publish
}

patience() {
  if [ "$failures" = 0 ]; then echo 300; return; fi
  echo $((not_before > SECONDS ? not_before - SECONDS : 1))
}

main() {
  local status
  arguments=("$@")
  case \${1-} in
  "") ;;
  --once) mode=once ;;
  --dry-run) mode=dry-run asked=\${2:-annotations} ;;
  *) say "usage: node-agent [--once | --dry-run [VERSION]]"; exit 64 ;;
  esac
  if [ "$mode" = dry-run ]; then
    words=$(mktemp)
    trap 'rm -f "$words"' EXIT
    dry_run
    exit
  fi
  mkdir -p "$folder"
  exec 8>>"$agent_lock"
  if ! flock --nonblock 8; then say "another node agent runs on this machine; waiting for its end"; flock 8 || exit 1; fi
  trap stop_watching EXIT
  say "node agent $version of $node"
  while :; do
    round
    status=$?
    exec 9>&-
    if [ "$mode" = once ]; then exit "$status"; fi
    if [ "$status" = 75 ]; then pause 2; else wait_for_change "$(patience)"; fi
  done
}`.trim();
