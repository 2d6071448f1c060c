# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # program.sh sets and reads the others
# Takes back what was changed since the change window was opened, when the rollout asks for it. Part of program.sh, whose
# variables it uses.

asks_back() { [ "${annotation[$key_allowed]-}" = back ]; }

# Prints the version of one software from before the change: SOFTWARE.
had() { sed -n "s/^$1 //p" "$before/versions" 2>/dev/null; }

list_files_of_kubernetes() {
  printf '%s\n' /etc/kubernetes/manifests/{etcd,kube-apiserver,kube-controller-manager,kube-scheduler}.yaml \
    /var/lib/kubelet/{config.yaml,kubeadm-flags.env} /etc/systemd/system/kubelet.service /etc/containerd/config.toml
}

# Records what this machine has before its first change.
remember_before() {
  local one
  if [ "$mode" = dry-run ]; then return 0; fi
  rm -rf "$before" "$before.new"
  mkdir -p "$before.new"
  for one in "${software[@]}"; do
    if [ "$one" != drift ] && [ -n "${have[$one]}" ]; then printf '%s %s\n' "$one" "${have[$one]}"; fi
  done >"$before.new/versions"
  ready_report >"$before.new/ready" || printf True >"$before.new/ready"
  if is_due kubeadm || is_due kubelet || is_due kubectl; then keep_kubernetes "$before.new/files"; fi
  mv "$before.new" "$before"
}

# Keeps the files that change with another version of Kubernetes, and a bundle's programs, which no repository has: FOLDER.
keep_kubernetes() {
  local path program staged=$ROOT$AGENT_STAGED_PATH/${have[kubelet]}
  mkdir -p "$1"
  while read -r path; do
    if [ ! -f "$ROOT$path" ]; then continue; fi
    mkdir -p "$1${path%/*}"
    copy_file "$ROOT$path" "$1$path" || say "$path is not a file that foresail reads; nothing was kept of it"
  done < <(list_files_of_kubernetes)
  if [ ! -d "$installers/images" ]; then return 0; fi
  mkdir -p "$staged"
  for program in kubeadm kubelet kubectl; do
    path=$ROOT/usr/local/bin/$program
    if [ -f "$path" ]; then cp --archive --link --force "$path" "$staged/" 2>/dev/null || cp --archive "$path" "$staged/"; fi
  done
}

# Removes what was kept, after the change window was closed.
forget_before() {
  if [ ! -e "$before" ]; then return 0; fi
  if [ -d "$before/files" ]; then rm -rf "${ROOT:-}${AGENT_STAGED_PATH:?}/$(had kubelet)"; fi
  rm -rf "$before"
}

is_as_before() { ! is_unfinished && [ ! -e "$before" ] && [ ! -e "$changing" ]; }

# Brings this machine back to what it had, and reports that.
turn_back() {
  # nothing else changes the machine meanwhile
  exec 9>>"$ROOT$LOCK_PATH"
  flock 9 || return 1
  if ! is_as_before; then
    say "goes back to what this machine had before the change"
    remember_starts
    # a kill or a failure between leaves a machine that has neither
    if [ -d "$before/files" ]; then remember_unfinished upgrading; else remember_begun; fi
    note "$key_ready" false
    publish || return 1
    if ! is_still_asked; then return 75; fi
    if ! go_back; then
      is_final=yes
      fail "going back failed: $failure"
      return 1
    fi
    keep_own_work
    remember_unfinished no
    forget_before
  fi
  compare
  changes=()
  note_found
  finish
}

go_back() {
  local one
  if [ ! -e "$before/versions" ]; then failure="what this machine had before the change is not on record"; return 1; fi
  for one in containerd os-packages; do
    if [ "$(had "$one")" != "${have[$one]}" ]; then failure="$one is ${have[$one]:-missing} and does not go back to $(had "$one")"; return 1; fi
  done
  if [ -e "$changing" ] || [ "$(had configuration)" != "${have[configuration]}" ]; then go_back_in_configuration || return 1; fi
  if [ -d "$before/files" ]; then go_back_in_kubernetes "$(had kubelet)" || return 1; fi
  await_ready_node || return 1
  rm -rf "$installing"
}

go_back_in_configuration() {
  local to
  to=$(had configuration)
  # what has changed since is compared with these
  printf '%s\n' "${wanted[configuration]}" >>"$changing"
  have[configuration]=$to
  # files of an earlier change stay when this one was killed before its first
  if [[ $(cat "$folder/previous/from" 2>/dev/null) == "$to "* ]]; then
    act "put the previous configuration back" run bash "$installers/configuration/${wanted[configuration]}" restore || { failure="put the previous configuration back: $(last_line)"; return 1; }
  fi
  restart_kubelet && await_previous_etcd "${wanted[configuration]}" && await_previous_certificate "${wanted[configuration]}" || return 1
  if [ -n "$to" ]; then printf '%s' "$to" >"$folder/configuration"; else rm -f "$folder/configuration"; fi
  rm -f "$changing"
}

# Brings Kubernetes' programs, and the files that kubeadm has written for another version, back: VERSION.
go_back_in_kubernetes() {
  local one path kept installer changed="" name
  local -A processes=()
  if is_control_plane && [ "$(minor_of "$1")" != "$(minor_of "${have[kubeadm]}")" ]; then
    failure="a control plane does not go back a minor version, from ${have[kubeadm]} to $1"
    return 1
  fi
  for one in kubeadm kubelet kubectl; do
    installer=$installers/$one/$1
    if [ ! -f "$installer" ]; then installer=$former/$1/$one; fi
    if [ ! -f "$installer" ]; then failure="the installer of $one $1 is not on this machine"; return 1; fi
    act "install $one $1 again" attempt "install $one $1 again" bash "$installer" install || return 1
  done
  if [ -f "$former/$1/images" ]; then run bash "$former/$1/images" restore || say "images of Kubernetes $1 are missing"; fi
  while read -r path; do
    kept=$before/files$path
    if [ ! -e "$kept" ] && ! is_there "$ROOT$path"; then continue; fi
    if [ -e "$kept" ] && cmp --silent "$kept" "$ROOT$path"; then continue; fi
    changed+="$path "
    name=$(basename "$path" .yaml)
    if [[ $path == /etc/kubernetes/manifests/* ]]; then processes[$name]=$(processes_of "$name"); fi
    if [ -e "$kept" ]; then put_file "$kept" "$ROOT$path"; else remove_path "$ROOT$path"; fi
  done < <(list_files_of_kubernetes)
  if [[ $changed == */etc/containerd/config.toml* ]]; then attempt "restart containerd" restart_unit containerd || return 1; fi
  rm -f "$folder/applying"
  act "restart the kubelet" restart_kubelet || return 1
  for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
    if [ -n "${processes[$name]+there}" ]; then await_static_pod "$name" "${processes[$name]}" || return 1; fi
  done
}
