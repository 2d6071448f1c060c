# shellcheck shell=bash
# Changes the settings of a machine that is a node, for the node agent, and keeps the files from before the change.
# Parameters, besides those of common/settings: REMOVED_PATHS (files that were configured before)
previous=$AGENT_PATH/previous

# Lists the files that a change may write or remove.
list_settings() {
  local registry
  environment_files
  echo /var/lib/kubelet/config.yaml
  for registry in "${REGISTRIES[@]}"; do registry_hosts "$registry"; done
  printf '%s\n' "${FILE_PATHS[@]}" "${REMOVED_PATHS[@]}"
  ls /etc/kubernetes/manifests/*.yaml 2>/dev/null || true
}

# Keeps the files as they are before the first write of a change. A change that was interrupted, or that another one
# follows before it has ended, keeps those from before it.
keep_previous() {
  local path from
  from="$(cat "$AGENT_PATH/configuration" 2>/dev/null) $(kubelet --version 2>/dev/null)"
  if [ "$(cat "$previous/from" 2>/dev/null)" != "$from" ]; then
    rm -rf "$previous"
    mkdir -p "$previous/files"
    printf '%s' "$from" >"$previous/from"
  fi
  while read -r path; do
    if [ -z "$path" ] || grep -qsxF -- "$path" "$previous/paths"; then continue; fi
    if [ -f "$path" ]; then
      mkdir -p "$(dirname "$previous/files$path")"
      cp --archive "$path" "$previous/files$path"
    fi
    printf '%s\n' "$path" >>"$previous/paths"
  done < <(list_settings)
}

# Tells whether a file is as it was before this change: PATH.
is_previous() { cmp --silent "$1" "$previous/files$1" || { [ ! -e "$1" ] && [ ! -e "$previous/files$1" ]; }; }

# Tells whether containerd reads another file at its next start than it did before this change.
is_containerd_changed() {
  local path
  while read -r path; do is_previous "$path" || return 0; done < <(containerd_files)
  return 1
}

restart_and_await_containerd() {
  systemctl daemon-reload
  systemctl restart containerd
  await_containerd
}

install_configuration() {
  local path
  keep_previous
  configure_environment
  write_registry_hosts
  write_user_files
  for path in "${REMOVED_PATHS[@]}"; do remove_file "$path"; done
  # also when the change was interrupted before the restart
  if is_containerd_changed; then restart_and_await_containerd; fi
}

# Lists the user's files that this change changes.
list_changed_files() {
  local path
  for path in "${FILE_PATHS[@]}" "${REMOVED_PATHS[@]}"; do is_previous "$path" || printf '%s\n' "$path"; done
}

# Puts every file back as it was before this change.
restore_configuration() {
  local path restarts=no
  [ -e "$previous/paths" ] || return 0
  if is_containerd_changed; then restarts=yes; fi
  while read -r path; do
    if is_previous "$path"; then continue; fi
    if [ -e "$previous/files$path" ]; then
      mkdir -p "$(dirname "$path")"
      cp --archive "$previous/files$path" "$path.foresail-new"
      mv -f "$path.foresail-new" "$path"
    else
      rm -f "$path"
    fi
  done <"$previous/paths"
  if [ "$restarts" = yes ]; then
    update-ca-certificates --fresh >/dev/null
    restart_and_await_containerd
  fi
  # by the next change they may be out of date
  rm -rf "$previous"
}
