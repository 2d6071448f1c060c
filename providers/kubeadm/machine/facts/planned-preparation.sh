# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154,SC2209,SC2317 # other files fill these in, read them and call them
# Lists what the preparation would change on this machine, as common/preparation notes it afterwards. Changes nothing: it runs the
# functions of the preparation that write files, in a shell of its own, where the functions that they call only tell.
# Parameters, in the place of contents, which may be secret: FILE_SUMS, REGISTRY_SUMS (lists of SHA-256 sums), CREDENTIALS_SUM (that of
# the registries' credentials; empty if it is not known); and PAUSE_IMAGE (of the table of versions; empty if it does not have them)
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
    # here alone: elsewhere, a function would pass for the program
    containerd() { timeout --kill-after=1 "$SECONDS_TO_ASK" containerd "$@"; }
    write_settings_files
    if [ -z "$REPOSITORY" ]; then
      write_kubelet_unit
    elif list_due_programs | grep "^program " >/dev/null; then
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

# What containerd's settings become depends on the containerd that is installed first. On a machine that was prepared before, they
# are rendered and compared.
write_containerd_file() {
  local path=/etc/containerd/config.toml
  if ! is_there "$path"; then
    echo "file $path"
  elif [ -z "$claimed_by" ] || ! has_rendered_settings "$path"; then
    echo "replaced $path"
  fi
}

# Tells whether a file has the settings that the preparation would write: PATH. What can't be rendered is not the same.
has_rendered_settings() {
  local settings credentials
  if [ ! -f "$1" ] || [ -L "$1" ] || ! type -P containerd >/dev/null; then return 1; fi
  settings=$(print_containerd_settings 2>/dev/null) || return 1
  credentials=$(own_credentials "$1"; echo .)
  if [ -n "$CREDENTIALS_SUM" ] && [ "$(printf '%s' "${credentials%.}" | sum)" != "$CREDENTIALS_SUM" ]; then return 1; fi
  [ -n "$(pause_image)" ] && (adjust_containerd_settings "$settings" "${credentials%.}") 2>/dev/null | cmp --silent - "$1"
}

# Prints the credentials at the end of containerd's settings, as foresail appends them: PATH.
own_credentials() {
  awk '/^\[plugins\..*\.registry\.configs\.".*"\.auth\]$/ { inside = 1; text = text $0 "\n"; next }
    inside && /^  (username|password) = / { text = text $0 "\n"; next }
    { inside = 0; text = "" }
    END { printf "%s", text }' "$1" | sed 's/"io\.containerd\.cri\.v1\.images"/"io.containerd.grpc.v1.cri"/'
}

# The settings of others in a pipe, since nothing is written.
dump_enabled_settings() { containerd --config <(enable_pods <"$1") config dump; }

# That of the kubeadm that is installed then: it may be here already, or the table of versions has it.
pause_image() { grep '/pause:' <<<"$images" || printf '%s\n' "$PAUSE_IMAGE"; }
