# shellcheck shell=bash
# needs: common/etcd-manifest
# Reads what a changed configuration would write over on a machine of an adopted cluster. Changes nothing; kubeadm renders
# into a folder in memory. Answers a line "name base64" for each fact.
# Data: a kubeadm configuration of the cluster before foresail's first change, and that of now; empty on a worker.
# Parameters:
#   FILE_PATHS, FILE_SUMS   lists of the files that the stack has, and of SHA-256 sums that each may have; several with commas
#   PATCHES                 folder with the machine's patches for kubeadm, or empty
#   CURRENT                 the line between the two configurations
#   ETCD                    whether settings of etcd change: yes or no
#   ETCD_BASELINE           the part of etcd in the version of a machine whose member foresail has not configured, or empty
set -euo pipefail
export LC_ALL=C
manifests=/etc/kubernetes/manifests

answer() { printf '%s %s\n' "$1" "$(base64 -w 0)"; }

# Prints the path after --config of the kubelet that runs.
kubelet_configuration() {
  local process
  process=$(systemctl show kubelet --property MainPID --value 2>/dev/null || true)
  if [ ! -e "/proc/${process:-0}/cmdline" ]; then return 0; fi
  tr '\0' '\n' <"/proc/$process/cmdline" | sed -n 's/^--config=//p' | tail -n 1
}

# Writes the kubeadm configuration on standard input for this machine: its own address, and the name of its member: FILE.
write_configuration() {
  local advertise member
  advertise=$(sed -n 's|^ *kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: *\(.*\):[0-9]*$|\1|p' "$manifests/kube-apiserver.yaml")
  member=$(sed -n 's/^ *- --name=//p' "$manifests/etcd.yaml" 2>/dev/null || true)
  sed -e "s|^  advertiseAddress: .*|  advertiseAddress: ${advertise:-127.0.0.1}|" \
    -e "s|^kind: InitConfiguration\$|&${member:+\nnodeRegistration:\n  name: $member}|" >"$1"
}

# Lists what the member of etcd has and kubeadm would not write, or the other way around, unless foresail has written it. A
# kill can come between the change of a member and the report of it, so it may also be as of now.
differing_member() {
  local folder manifest=$manifests/etcd.yaml own at
  own=$(cut -s -d . -f 4 "$AGENT_PATH/configuration" 2>/dev/null || true)
  if [ -n "$own" ] && [ "$own" != "$ETCD_BASELINE" ]; then return 0; fi
  if [ ! -e "$manifest" ]; then
    echo "no static pod etcd"
    return 0
  fi
  folder=$(mktemp -d /run/foresail-settings.XXXXXX)
  for at in now original; do
    if [ "$at" = now ]; then write_configuration "$folder/kubeadm.yaml" <<<"${configurations#*"$CURRENT"}"; else write_configuration "$folder/kubeadm.yaml" <<<"${configurations%%"$CURRENT"*}"; fi
    KUBEADM_INIT_DRYRUN_DIR=$folder/$at kubeadm init phase etcd local --dry-run --config "$folder/kubeadm.yaml" \
      ${PATCHES:+--patches "$PATCHES"} >/dev/null 2>"$folder/why" || { printf 'kubeadm could not render it: %s\n' "$(tail -n 1 "$folder/why")"; break; }
    keep_member "$folder/$at/etcd.yaml" "$manifest"
    if cmp --silent "$folder/$at/etcd.yaml" "$manifest"; then break; fi
    if [ "$at" = now ]; then continue; fi
    { diff "$folder/original/etcd.yaml" "$manifest" || true; } | { grep '^[<>]' || true; } |
      sed -E 's|^[<>] *- (--[a-z0-9-]+).*|etcd \1|; t; s|^[<>][ -]*([A-Za-z0-9_./-]+):.*|etcd \1|; t; s|.*|etcd|' | sort -u
  done
  rm -rf "$folder"
}

# Lists what the static pods have and kubeadm would not write, or the other way around: the pod with the argument, or alone.
# Values are left out, since they may be secret.
differing_manifests() {
  local folder name
  folder=$(mktemp -d /run/foresail-settings.XXXXXX)
  write_configuration "$folder/kubeadm.yaml" <<<"${configurations%%"$CURRENT"*}"
  KUBEADM_INIT_DRYRUN_DIR=$folder/rendered kubeadm init phase control-plane all --dry-run --config "$folder/kubeadm.yaml" \
    ${PATCHES:+--patches "$PATCHES"} >/dev/null 2>"$folder/why" || { printf 'kubeadm could not render them: %s\n' "$(tail -n 1 "$folder/why")"; rm -rf "$folder"; return 0; }
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    { diff "$folder/rendered/$name.yaml" "$manifests/$name.yaml" || true; } | { grep '^[<>]' || true; } |
      sed -E "s|^[<>] *- (--[a-z0-9-]+).*|$name \\1|; t; s|.*|$name|"
  done | sort -u
  rm -rf "$folder"
}

# Lists units that have a proxy which foresail did not set.
foreign_proxies() {
  local unit
  for unit in containerd kubelet; do
    if [ -e "/etc/systemd/system/$unit.service.d/foresail-proxy.conf" ]; then continue; fi
    if systemctl show "$unit" --property Environment --value 2>/dev/null | grep -iE '(^| )"?https?_proxy=' >/dev/null; then echo "$unit"; fi
  done
}

# Lists files that exist with a content that is not the stack's, and that foresail did not write.
foreign_files() {
  local index sum
  for index in "${!FILE_PATHS[@]}"; do
    if [ ! -e "${FILE_PATHS[index]}" ] || grep -qsxF -- "${FILE_PATHS[index]}" "$AGENT_PATH/written"; then continue; fi
    sum=$(sha256sum <"${FILE_PATHS[index]}")
    if [[ ,${FILE_SUMS[index]}, != *,${sum%% *},* ]]; then printf '%s\n' "${FILE_PATHS[index]}"; fi
  done
}

configurations=$(cat)
if [ -e "$AGENT_PATH/configuration" ] || [ -e "$AGENT_PATH/previous" ]; then configured=yes; else configured=no; fi
printf %s "$configured" | answer configured
kubelet_configuration | answer kubeletPath
if [ -e /var/lib/kubelet/config.yaml ]; then cat /var/lib/kubelet/config.yaml; fi | answer kubelet
if [ "$configured" = no ] && [ -e "$manifests/kube-apiserver.yaml" ]; then differing_manifests; fi | answer manifests
if [ "$ETCD" = yes ]; then differing_member; fi | answer etcd
if containerd config dump 2>/dev/null | grep -E '^ *config_path = .*/etc/containerd/certs\.d' >/dev/null; then echo yes; fi | answer readsMirrors
foreign_proxies | answer proxies
foreign_files | answer files
