# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # parts of one program
no_version="the cluster's version could not be read from kubernetesVersion in the ConfigMap kubeadm-config"

# Prints why the request is refused, or nothing. Exit code FINAL when waiting does not change that.
refuse() {
  local one to from cluster
  for one in "${due[@]}"; do
    to=${wanted[$one]}
    if ! [[ $to =~ $VERSION_PATTERN ]]; then say "$one: \"${to:0:60}\" is not a version"; return "$FINAL"; fi
    if [ "$one" = os-updates ] && updates_installer >/dev/null; then continue; fi
    if [ "$one" != drift ] && [ "$one" != certificates ] && [ ! -f "$installers/$one/$to" ]; then
      # shellcheck disable=SC2011 # names of versions have no spaces
      say "$one $to is not staged on this machine, which has: $(ls "$installers/$one" 2>/dev/null | xargs); a node takes only what foresail has put there"
      return "$FINAL"
    fi
  done
  if ! keeps_its_name; then
    say "this machine calls itself $(hostname) and its kubelet was given no other name, so it would come back as another Node than $node; run there: hostnamectl set-hostname $node"
    return "$FINAL"
  fi
  to=${wanted[kubelet]} from=${have[kubelet]}
  if [ "$to" != "${wanted[kubeadm]}" ] || [ "$to" != "${wanted[kubectl]}" ]; then
    say "kubelet, kubeadm and kubectl have to go to the same version, but are asked for ${to:-none}, ${wanted[kubeadm]:-none} and ${wanted[kubectl]:-none}"
    return "$FINAL"
  fi
  if is_due kubelet && ! is_unfinished; then
    find_shortage
    if [ -n "$shortage" ]; then say "too little free space: $shortage"; return 0; fi
  fi
  if [ -z "$to" ] || [ -z "$from" ] || [ "$asked" != annotations ]; then return 0; fi
  if [ "$(minor_of "$to")" -lt "$(minor_of "$from")" ]; then say "a kubelet never goes back a minor version, from $from to $to"; return "$FINAL"; fi
  if [ "$(minor_of "$to")" -gt "$(($(minor_of "$from") + 1))" ]; then say "one minor version at a time: $to is more than one above $from"; return "$FINAL"; fi
  if is_control_plane; then
    if cluster=$(cluster_version) && [ -z "$cluster" ]; then say "$no_version"; fi
    return 0
  fi
  cluster=$known_cluster
  # the version of a cluster only rises
  if [ -z "$cluster" ] || [ "$(minor_of "$to")" -gt "$(minor_of "$cluster")" ]; then cluster=$(cluster_version); fi
  if [ -z "$cluster" ]; then say "$no_version: $(tail -n 1 "$output")"; return 0; fi
  if [ "$(minor_of "$to")" -gt "$(minor_of "$cluster")" ]; then say "the control plane is at $cluster; a kubelet is never newer"; fi
}
# Why a change failed, and whether it would fail in the same way each time.
failure="" is_final=no

# Runs a program, with its output in the journal as it comes.
run() {
  "$@" </dev/null 2>&1 | tee "$output"
  return "${PIPESTATUS[0]}"
}

# Prints the line that says most about a failure: what kubeadm's preflight found, else the last that is not a mere hint.
last_line() {
  { grep -F '[ERROR ' "$output" || grep -v 'To see the stack trace' "$output" | grep .; } | tail -n 1 | tr -cd '[:print:]' | cut -c 1-300
}

# Runs a program: WHAT PROGRAM... Retries for two minutes what an API server that has just started refuses.
attempt() {
  local what=$1 status
  shift
  for _ in $(seq 24); do
    if run "$@"; then return 0; else status=$?; fi
    if [ "$status" = "$FINAL" ]; then is_final=yes; break; fi
    if ! grep -qiE 'forbidden|connection refused|connection reset|handshake timeout|etcdserver: ' "$output"; then break; fi
    pause 5
  done
  failure="$what: $(last_line)"
  return 1
}

install_version() {
  local installer=$installers/$1/$2
  if [ "$mode" = dry-run ]; then
    if ! run bash "$installer" check >&2; then failure="$1 $2: $(last_line)"; return 1; fi
  fi
  if [ "$mode" != dry-run ]; then mkdir -p "$installing" && printf '%s' "$2" >"$installing/$1"; fi
  act "install $1 $2" attempt "install $1 $2" bash "$installer" install || return 1
  if [ "$mode" != dry-run ]; then rm -f "$installing/$1"; fi
}

start_anew() {
  stop_watching
  exec 9>&-
  exec "$program" "${arguments[@]}"
}

change() {
  remember_starts
  if is_due node-agent; then
    install_version node-agent "${wanted[node-agent]}" || return 1
    act "start node agent ${wanted[node-agent]}" start_anew
  fi
  if is_due drift; then repair_drift || return 1; fi
  if is_due os-packages; then install_version os-packages "${wanted[os-packages]}" || return 1; fi
  if is_due os-updates; then install_updates || return 1; fi
  if is_due containerd; then install_version containerd "${wanted[containerd]}" || return 1; fi
  if is_due kubeadm || is_due kubelet || is_due kubectl || { may_be_half_upgraded && [ -n "${wanted[kubelet]}" ]; }; then
    # kubeadm writes the cluster's configuration, with which this machine may have to go back
    if is_due configuration && [ "$mode" != dry-run ]; then attempt "keep the files of before" bash "$installers/configuration/${wanted[configuration]}" keep || return 1; fi
    change_kubernetes "${wanted[kubelet]}" || return 1
  elif [ "$unfinished" = upgraded ]; then
    come_up_with "${have[kubelet]}" || return 1
  fi
  # last, when kubeadm has the version of the cluster
  if is_due configuration; then change_configuration "${wanted[configuration]}" || return 1; fi
  if is_due certificates; then renew_certificates || return 1; fi
  # the file is in memory, so after the reboot there is nothing left to do
  if [ -n "${wanted[os-packages]}" ] && [ -e "$ROOT/run/reboot-required" ] && ! is_container; then act "reboot, as the new packages ask for" reboot_machine; fi
}

reboot_machine() {
  systemctl reboot
  if [ "$mode" = once ]; then exit 0; fi
  sleep infinity
}

change_kubernetes() {
  local to=$1
  remember_unfinished upgrading
  if is_due kubeadm; then install_version kubeadm "$to" || return 1; fi
  # a bundle's images are in no registry
  if [ -f "$installers/images/$to" ]; then install_version images "$to" || return 1; fi
  upgrade_kubernetes "$to" || return 1
  if is_due kubelet; then install_version kubelet "$to" || return 1; fi
  if is_due kubectl; then install_version kubectl "$to" || return 1; fi
  remember_unfinished upgraded
  came_up=""
  come_up_with "$to"
}

came_up="" is_awaited=no

# Restarts the kubelet of another version, and waits until the Node is Ready: VERSION. When that takes longer, each further try only
# waits, as long as the rollout asks for it, whose limit decides.
come_up_with() {
  if [ "$came_up" != "$1" ]; then act "restart the kubelet, and wait until the Node is Ready" restart_kubelet || return 1; else kubelet_restarts=$(restarts_of_kubelet); fi
  if [ "$mode" = dry-run ]; then return 0; fi
  came_up=$1 is_awaited=yes
  if ! await_ready_node; then
    # a kubelet that keeps ending starts again in the next try
    if [ "$is_final" = yes ]; then came_up="" is_awaited=no; fi
    return 1
  fi
  came_up=""
  remember_unfinished begun
}

patch_flags=()

# Adds the patches that this machine was created with to kubeadm's flags; without them, an upgrade would undo them. Only
# kubeadm init leaves a super-admin.conf.
add_patches() {
  local patches=${patches_of_join-}
  if [ -e "$kubernetes/super-admin.conf" ]; then patches=${patches_of_init-}; fi
  # an adopted machine may have its own
  if [ -z "$patches" ] && grep -qs '^adopted ' "$ROOT$MEMBER_PATH" && [ -d "$ROOT$OWN_PATCHES_PATH" ]; then patches=$OWN_PATCHES_PATH; fi
  if [ -n "$patches" ]; then patch_flags=("--patches=$patches"); fi
  kubeadm_flags+=("${patch_flags[@]}")
}

# Removes the copies of etcd's data that kubeadm leaves at each upgrade, except for the newest.
prune_copies() {
  local one copies=()
  mapfile -t copies < <(find "$kubernetes/tmp" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null | grep -xE 'kubeadm-backup-etcd(-[0-9]+){6}' | sort)
  if [ ${#copies[@]} -lt 2 ]; then return 0; fi
  for one in "${copies[@]:0:${#copies[@]}-1}"; do
    act "remove an older copy of etcd: $kubernetes/tmp/$one" rm -rf --one-file-system "$kubernetes/tmp/$one" || true
  done
}

# Runs kubeadm upgrade; each of several attempts leaves a copy.
kubeadm_upgrade() {
  prune_copies
  kubeadm upgrade "$@" && prune_copies
}

# Runs kubeadm upgrade apply once in the cluster, and kubeadm upgrade node on every other node.
upgrade_kubernetes() {
  local to=$1 cluster=""
  if ! is_control_plane; then
    act "kubeadm upgrade node" attempt "kubeadm upgrade node" kubeadm upgrade node "${kubeadm_flags[@]}"
    return
  fi
  for _ in $(seq 24); do
    # an answer without a version stays so
    cluster=$(cluster_version) && break
    if [ "$mode" = dry-run ]; then break; fi
    pause 5
  done
  if [ -z "$cluster" ] && [ "$mode" != dry-run ]; then failure="$no_version: $(last_line)"; return 1; fi
  # kubeadm records the new version before its last steps, so our own file shows that an apply was interrupted
  if [ "$cluster" != "$to" ] || [ "$(cat "$folder/applying" 2>/dev/null)" = "$to" ]; then
    if [ "$mode" != dry-run ]; then printf '%s' "$to" >"$folder/applying"; fi
    act "kubeadm upgrade apply v$to" attempt "kubeadm upgrade apply v$to" kubeadm_upgrade apply "v$to" --yes "${kubeadm_flags[@]}" || return 1
    if [ "$mode" != dry-run ]; then rm -f "$folder/applying"; fi
  else
    act "kubeadm upgrade node" attempt "kubeadm upgrade node" kubeadm_upgrade node "${kubeadm_flags[@]}"
  fi
}
