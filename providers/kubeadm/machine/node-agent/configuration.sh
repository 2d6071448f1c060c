# shellcheck shell=bash
# needs: common/settings common/adopted common/etcd-manifest common/api-server-certificate common/moved-endpoint common/plain-yaml
# Changes the settings of a machine that is a node, for the node agent, and keeps the files from before the change.
# Parameters, besides those of common/settings, common/api-server-certificate and common/moved-endpoint: REMOVED_PATHS (files that were configured before), BASELINE (configuration of a
# control plane that has no version of it, or not all parts)
previous=$AGENT_PATH/previous
# of an adopted machine: the files that foresail has written there, and those that it found in their places
written=$AGENT_PATH/written
originals=$AGENT_PATH/originals

# Lists the files that a change may write or remove.
list_settings() {
  local registry
  environment_files
  echo /var/lib/kubelet/config.yaml
  for registry in "${REGISTRIES[@]}"; do registry_hosts "$registry"; done
  printf '%s\n' "${FILE_PATHS[@]}" "${REMOVED_PATHS[@]}" "$written"
  ls /etc/kubernetes/manifests/*.yaml 2>/dev/null || true
}

# Keeps the files as they are before the first write of a change. A change that was interrupted, or that another one
# follows before it has ended, keeps those from before it.
keep_previous() {
  local from kubelet
  # that of before the change, which may bring another one
  kubelet=$(sed -n 's/^kubelet //p' "$AGENT_PATH/before/versions" 2>/dev/null || true)
  if [ -n "$kubelet" ]; then kubelet="Kubernetes v$kubelet"; else kubelet=$(kubelet --version 2>/dev/null || true); fi
  from="$(cat "$AGENT_PATH/configuration" 2>/dev/null || true) $kubelet"
  if [ "$(cat "$previous/from" 2>/dev/null)" != "$from" ]; then
    rm -rf "$previous"
    mkdir -p "$previous/files"
    printf '%s' "$from" >"$previous/from"
  fi
  list_settings | keep_files
}

# Keeps files whose paths are on standard input, unless they are kept already.
keep_files() {
  local path
  while read -r path; do
    if [ -z "$path" ] || grep -qsxF -- "$path" "$previous/paths"; then continue; fi
    keep_file "$path" "$previous/files$path"
    printf '%s\n' "$path" >>"$previous/paths"
  done
}

# Copies a file to a folder of root, if there is one: PATH COPY. What others put in its place is not a file.
keep_file() {
  if [ ! -f "$1" ]; then return 0; fi
  mkdir -p "$(dirname "$2")"
  copy_file "$1" "$2" || echo "$1 is not a file that foresail reads; nothing was kept of it"
}

# Tells whether a file is as it was before this change: PATH.
is_previous() {
  if is_there "$1" && [ -e "$previous/files$1" ]; then cmp --silent "$previous/files$1" <(read_file "$1"); else ! is_there "$1" && [ ! -e "$previous/files$1" ]; fi
}

# Tells whether containerd reads another file at its next start than it did before this change.
is_containerd_changed() {
  local path
  while read -r path; do is_previous "$path" || return 0; done < <(containerd_files)
  return 1
}

restart_and_await_containerd() {
  systemctl daemon-reload
  restart_unit containerd
  await_containerd
}

# Keeps what an adopted machine has in the place of each file that foresail is about to write there for the first time.
keep_originals() {
  local path registry
  if ! is_adopted; then return 0; fi
  while read -r path; do
    if [ -z "$path" ] || grep -qsxF -- "$path" "$written"; then continue; fi
    rm -f "$originals$path"
    keep_file "$path" "$originals$path"
    printf '%s\n' "$path" >>"$written"
  done < <(printf '%s\n' "${FILE_PATHS[@]}"; for registry in "${REGISTRIES[@]}"; do registry_hosts "$registry"; done)
}

# Removes a file that was configured before: PATH. An adopted machine gets the one back that it had in its place, and keeps
# what foresail did not write.
remove_configured() {
  if ! is_adopted; then remove_file "$1"; return 0; fi
  if ! grep -qsxF -- "$1" "$written"; then return 0; fi
  if [ -e "$originals$1" ]; then
    put_file "$originals$1" "$1"
  else
    remove_file "$1"
  fi
  grep -vxF -- "$1" "$written" >"$written.new" || true
  mv -f "$written.new" "$written"
}

install_configuration() {
  keep_previous
  keep_originals
  configure_environment
  write_registry_hosts
  write_user_files
  load_kernel_files
  # also when the change was interrupted before the restart
  if is_containerd_changed; then restart_and_await_containerd; fi
  move_endpoint
}

# Removes the files that are no longer configured, after nothing reads them any more.
remove_former_files() {
  local path
  for path in "${REMOVED_PATHS[@]}"; do remove_configured "$path"; done
}

# Connects this machine to another endpoint, if it answers this machine's kubelet.
move_endpoint() {
  local path new=/etc/kubernetes/.foresail-new moving
  moving=$(list_moving)
  if [ -z "$moving" ]; then return 0; fi
  keep_files <<<"$moving"
  with_endpoint /etc/kubernetes/kubelet.conf >"$new"
  kubectl --kubeconfig "$new" --server "https://$ENDPOINT" --request-timeout=20s get --raw /readyz >/dev/null 2>"$new.log" ||
    fail "the API servers do not answer at $ENDPOINT: $(tail -n 1 "$new.log"; rm -f "$new" "$new.log")"
  rm -f "$new.log"
  while read -r path; do
    with_endpoint "$path" >"$new"
    chown --reference="$path" "$new"
    chmod --reference="$path" "$new"
    mv -f "$new" "$path"
  done <<<"$moving"
}

# Lists the user's files, and kubeconfigs, that this change changes.
list_changed_files() {
  local path
  # shellcheck disable=SC2154 # common/moved-endpoint lists them
  for path in "${FILE_PATHS[@]}" "${REMOVED_PATHS[@]}" $(grep -sxF -f <(printf '%s\n' "${kubeconfigs[@]}") "$previous/paths"); do is_previous "$path" || printf '%s\n' "$path"; done
}

print_baseline() { printf '%s' "$BASELINE"; }

# Writes the configuration from which kubeadm renders for this control plane: the cluster's, and its own name and address: FILE.
write_kubeadm_configuration() {
  local manifests=/etc/kubernetes/manifests address text
  address=$(sed -nE 's|^ *kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: *([^ ]*):[0-9]+$|\1|p' "$manifests/kube-apiserver.yaml")
  cat >"$1" <<CONFIGURATION
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  name: $(sed -n 's/^ *- --name=//p' "$manifests/etcd.yaml" 2>/dev/null)
  criSocket: unix:///run/containerd/containerd.sock
localAPIEndpoint:
  advertiseAddress: "$address"
---
CONFIGURATION
  text=$(kubectl --kubeconfig /etc/kubernetes/admin.conf --request-timeout=20s --namespace kube-system get configmap kubeadm-config \
    --output 'jsonpath={.data.ClusterConfiguration}')
  as_plain_yaml <<<"$text" >>"$1" || fail "ClusterConfiguration of the ConfigMap kubeadm-config can't be read; correct it there" 65
}

# Lets kubeadm render etcd's manifest for this member: FILE FLAG...
render_etcd() {
  local file=$1
  shift
  folder=$(mktemp -d /run/foresail-etcd.XXXXXX)
  trap 'rm -rf "$folder"' EXIT
  write_kubeadm_configuration "$folder/kubeadm.yaml"
  KUBEADM_INIT_DRYRUN_DIR=$folder kubeadm init phase etcd local --dry-run --config "$folder/kubeadm.yaml" "$@" >"$folder/log" 2>&1 ||
    fail "kubeadm init phase etcd local --dry-run: $(tail -n 1 "$folder/log")" 65
  keep_member "$folder/etcd.yaml" /etc/kubernetes/manifests/etcd.yaml
  mv -f "$folder/etcd.yaml" "$file"
}

# Keeps the API server's certificate and key, and creates others in a folder with the names of the cluster's configuration:
# FOLDER. Creates no folder for a certificate that has exactly these names, as after a kill.
stage_certificate() {
  local pki=/etc/kubernetes/pki name
  # a kill leaves its folder
  rm -rf /etc/kubernetes/.foresail-new.*
  folder=$(mktemp -d /etc/kubernetes/.foresail-new.XXXXXX)
  trap 'rm -rf "$folder"' EXIT
  write_kubeadm_configuration "$folder/cluster.yaml"
  create_certificate "$folder" "$folder/cluster.yaml"
  if [ "$(names_in "$folder/apiserver.crt")" = "$(names_in "$pki/apiserver.crt")" ]; then return 0; fi
  printf '%s\n' "$pki"/apiserver.{key,crt} | keep_files
  mkdir "$folder/pair"
  for name in apiserver.key apiserver.crt; do
    chown --reference="$pki/$name" "$folder/$name"
    chmod --reference="$pki/$name" "$folder/$name"
    mv "$folder/$name" "$folder/pair"
  done
  rm -rf "$1"
  mv "$folder/pair" "$1"
}

# Puts every file back as it was before this change.
restore_configuration() {
  local path restarts=no
  [ -e "$previous/paths" ] || return 0
  if is_containerd_changed; then restarts=yes; fi
  while read -r path; do
    if is_previous "$path"; then continue; fi
    if [ -e "$previous/files$path" ]; then put_file "$previous/files$path" "$path"; else remove_path "$path"; fi
  done <"$previous/paths"
  if [ "$restarts" = yes ]; then
    update-ca-certificates --fresh >/dev/null
    restart_and_await_containerd
  fi
  # by the next change they may be out of date
  rm -rf "$previous"
}
