# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154,SC2209,SC2317 # other files fill these in, read them and call them
# Lists what the preparation would change on this machine, as common/preparation notes it afterwards. Changes nothing: it runs the
# functions of the preparation that write files, in a shell of its own, where the functions that they call only tell.
# Parameters, in the place of contents, which may be secret: FILE_SUMS, REGISTRY_SUMS (lists of SHA-256 sums)
list_planned_preparation() {
  local package index
  echo begin
  for package in "${missing[@]}"; do echo "package $package"; done
  list_due_programs
  list_kernel_changes
  (
    write_file() { tell_file "$1" "$(sum)"; }
    write_user_files() { for index in "${!FILE_PATHS[@]}"; do tell_file "${FILE_PATHS[index]}" "${FILE_SUMS[index]}"; done; }
    write_registry_hosts() { for index in "${!REGISTRIES[@]}"; do tell_file "$(registry_hosts "${REGISTRIES[index]}")" "${REGISTRY_SUMS[index]}"; done; }
    remove_file() { if is_there "$1"; then echo "removed $1"; fi; }
    systemctl() { return 1; }
    update-ca-certificates() { :; }
    export_proxy() { :; }
    load_kernel_files() { :; }
    write_settings_files
    if [ -z "$REPOSITORY" ]; then
      write_kubelet_unit
    elif [ -n "$(list_due_programs)" ]; then
      if ! is_there "$kubernetes_key"; then echo "file $kubernetes_key"; fi
      write_file /etc/apt/sources.list.d/foresail-kubernetes.list <<<"deb [signed-by=$kubernetes_key,$KEY_FINGERPRINT] $REPOSITORY /"
    fi
    write_registry_hosts
    write_containerd_file
    write_service_files
  )
  true
}

sum() { sha256sum | cut -d ' ' -f 1; }

# Tells whether a file is new or replaced: PATH SUM. What is not a regular file is replaced unread: a pipe would never end.
tell_file() {
  if ! is_there "$1"; then
    echo "file $1"
  elif [ ! -f "$1" ] || [ -L "$1" ] || [ "$(read_file "$1" 2>/dev/null | sum)" != "$2" ]; then
    echo "replaced $1"
  fi
}

# What containerd's settings become depends on the containerd that is installed first; an earlier preparation has recorded them.
write_containerd_file() {
  local path=/etc/containerd/config.toml how=file
  if [ -n "$claimed_by" ] && grep -qsxF -- "$path" "$BEFORE_PATH/paths"; then return 0; fi
  if is_there "$path"; then how=replaced; fi
  echo "$how $path"
}
