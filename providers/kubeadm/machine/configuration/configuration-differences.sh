# shellcheck shell=bash
# needs: common/system common/owner common/adopted common/settings common/etcd-manifest common/api-server-certificate common/moved-endpoint common/tried-programs
# replaces: write_file remove_file
# Reads which files a configuration will change on a node, for a preview. Writes only into a folder in memory that root
# alone can read, and that is removed in any case. Data: the kubeadm configuration of this machine.
# Answers a line for each file that differs: its path, what it contains, what it will contain, and its modes before and
# after if they are set; texts in base64 after "=", and "-" for a file that does not exist. Then the lines of
# common/tried-programs.
# Parameters, besides those of common/settings, common/api-server-certificate, common/moved-endpoint and common/owner: REMOVED_PATHS, CONTROL_PLANE (yes or no), KUBEADM (whether
# what kubeadm writes is compared: yes or no), ETCD (whether etcd's manifest is, too: yes or no), CERTIFICATE (whether
# the names in the API server's certificate are: yes or no), PATCHES_OF_INIT and PATCHES_OF_JOIN (as of the node agent), NO_CERTIFICATES
# (folder that a worker's kubeadm configuration names), OWN_ADDRESS (whether this machine's own address and container
# runtime replace those of the data, in a cluster that others made: yes or no), PRIVATE_PATHS and PRIVATE_FOLDER (files
# below the paths, and the folder itself, lose all permissions of others when the kubelet starts; empty without a profile)
set -euo pipefail
umask 077
export LC_ALL=C
refuse_foreign_machine >&2
folder=$(mktemp --directory /run/foresail-preview.XXXXXXXX)
trap 'rm -rf --one-file-system "$folder"' EXIT
expected=$folder/expected
rendered=$folder/rendered
patches=$folder/patches
mkdir "$expected" "$rendered" "$patches"
cat >"$folder/kubeadm.yaml"

# From here on, the functions of common/settings write into the folder and not to the machine.
written=()
removed=()
answered=()
write_file() {
  mkdir -p "$(dirname "$expected$1")"
  cat >"$expected$1"
  command chmod "$2" "$expected$1"
  written+=("$1")
}
remove_file() { removed+=("$1"); }
chown() { command chown "$1" "$expected$2"; }
chmod() { command chmod "$1" "$expected$2"; }
export_proxy() { :; }

# Removes a file that was configured before, as the node agent does: PATH. An adopted machine gets the one back that it had
# in its place, and keeps what foresail did not write.
remove_configured() {
  if ! is_adopted; then remove_file "$1"; return 0; fi
  if ! grep -qsxF -- "$1" "$AGENT_PATH/written"; then return 0; fi
  if [ ! -e "$AGENT_PATH/originals$1" ]; then remove_file "$1"; return 0; fi
  mkdir -p "$(dirname "$expected$1")"
  cp --archive "$AGENT_PATH/originals$1" "$expected$1"
  written+=("$1")
}

# Puts a value of this machine into the kubeadm configuration, unless it is empty: FIELD VALUE.
set_field() { if [ -n "$2" ]; then sed -i "s|^  $1: .*|  $1: $2|" "$folder/kubeadm.yaml"; fi; }

# Puts the address and the container runtime into the kubeadm configuration that kubeadm finds on this machine when it
# upgrades it.
set_own_fields() {
  local endpoint runtime
  endpoint=$(sed -n 's|^ *kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: *||p' /etc/kubernetes/manifests/kube-apiserver.yaml 2>/dev/null || true)
  runtime=$(sed -n 's|^containerRuntimeEndpoint: *"\{0,1\}\([^"]*\)"\{0,1\}$|\1|p' /var/lib/kubelet/instance-config.yaml 2>/dev/null || true)
  if [ -z "$runtime" ]; then runtime=$(sed -n 's|.*--container-runtime-endpoint=\([^ "]*\).*|\1|p' /var/lib/kubelet/kubeadm-flags.env 2>/dev/null || true); fi
  set_field advertiseAddress "${endpoint%:*}"
  set_field bindPort "${endpoint##*:}"
  set_field criSocket "$runtime"
}

# Copies the patches of this machine as they will be: FOLDER.
collect_patches() {
  local path
  if [ -d "$1" ]; then cp --recursive "$1/." "$patches"; fi
  for path in "${removed[@]}"; do if [ "$(dirname "$path")" = "$1" ]; then rm -f "$patches/$(basename "$path")"; fi; done
  if [ -d "$expected$1" ]; then cp --recursive "$expected$1/." "$patches"; fi
}

# Lets kubeadm write what it would write for this machine into the folder: PHASE... Without a proxy in its environment,
# like the node agent's kubeadm.
render() {
  timeout 30 env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin KUBEADM_INIT_DRYRUN_DIR="$rendered" \
    kubeadm init phase "$@" --config "$folder/kubeadm.yaml" "${patch_flags[@]}" --dry-run >"$folder/log" 2>&1 || {
    echo "kubeadm init phase $* --dry-run: $(tail -n 3 "$folder/log")" >&2
    exit 1
  }
}

content_of() { if [ -f "$1" ]; then printf '=%s' "$(base64 --wrap 0 <"$1")"; else printf -- -; fi; }
mode_of() { if [ -e "$1" ]; then stat --dereference --format %a,%U:%G "$1"; else printf -- -; fi; }
# Prints the mode that a file has once the kubelet has made it private: FILE.
private_mode_of() { mode_of "$1" | sed -E 's/^([0-7]*)[0-7]{2},/\100,/'; }

# Tells whether the kubelet's start makes a file private: PATH.
becomes_private() {
  local path
  for path in "${PRIVATE_PATHS[@]}"; do if [[ $1/ == "$path"/* ]]; then return 0; fi; done
  return 1
}

# Answers a file that differs: PATH EXPECTED [MODES: yes].
compare() { compare_as "$1" "$@"; }

# Answers a difference by what it is of: WHAT FILE EXPECTED [MODES: yes].
compare_as() {
  local modes="- -" source=$2
  if [ "${4-}" = yes ]; then
    source=$3
    modes="$(mode_of "$2") $(mode_of "$3")"
  fi
  if [ "$1" = "$2" ] && becomes_private "$1"; then modes="$(mode_of "$2") $(private_mode_of "$source")"; fi
  if [ ! -e "$2" ] && [ ! -e "$3" ]; then return 0; fi
  if cmp --silent "$2" "$3" && [ "${modes% *}" = "${modes#* }" ]; then return 0; fi
  answered+=("$1")
  printf '%s %s %s %s\n' "$(printf '%s' "$1" | base64 --wrap 0)" "$(content_of "$2")" "$(content_of "$3")" "$modes"
}

# Answers what becomes private besides the files that are answered already, without contents: these stay.
compare_private() {
  local path
  if [ -z "${PRIVATE_PATHS[*]}" ]; then return 0; fi
  {
    find "${PRIVATE_PATHS[@]}" -type f -perm /077 2>/dev/null || true
    find "$PRIVATE_FOLDER" -maxdepth 0 -perm /077 2>/dev/null || true
  } | { grep -vxF -f <(printf '%s\n' "${answered[@]}") || true; } | while read -r path; do
    printf '%s = = %s %s\n' "$(printf '%s' "$path" | base64 --wrap 0)" "$(mode_of "$path")" "$(private_mode_of "$path")"
  done
}

configure_environment
write_registry_hosts
write_user_files
for path in "${REMOVED_PATHS[@]}"; do remove_configured "$path"; done
for path in "${written[@]}"; do compare "$path" "$expected$path" yes; done
for path in "${removed[@]}"; do compare "$path" /nonexistent; done
# of a kubeconfig, which has a key, only the address
for path in $(list_moving); do
  grep '^ *server: ' "$path" >"$folder/server"
  with_endpoint "$path" | grep '^ *server: ' >"$folder/new-server"
  compare_as "$path (server)" "$folder/server" "$folder/new-server"
done
if [ "$KUBEADM" = no ]; then
  compare_private
  exit 0
fi
if [ "$OWN_ADDRESS" = yes ]; then set_own_fields; fi
given=$PATCHES_OF_JOIN
if [ -e /etc/kubernetes/super-admin.conf ]; then given=$PATCHES_OF_INIT; fi
given=$(patches_of_upgrade "$given")
patch_flags=()
if [ -n "$given" ]; then
  collect_patches "$given"
  patch_flags=("--patches=$patches")
fi
if [ "$ETCD" = yes ]; then
  render etcd local
  keep_member "$rendered/etcd.yaml" /etc/kubernetes/manifests/etcd.yaml
  compare /etc/kubernetes/manifests/etcd.yaml "$rendered/etcd.yaml"
fi
if [ "$CERTIFICATE" = yes ]; then
  mkdir "$folder/certificate"
  create_certificate "$folder/certificate" "$folder/kubeadm.yaml" >&2
  names_in /etc/kubernetes/pki/apiserver.crt >"$folder/names"
  names_in "$folder/certificate/apiserver.crt" >"$folder/new-names"
  compare_as "/etc/kubernetes/pki/apiserver.crt (names)" "$folder/names" "$folder/new-names"
fi
if [ "$CONTROL_PLANE" = yes ]; then
  render control-plane all
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    compare "/etc/kubernetes/manifests/$name.yaml" "$rendered/$name.yaml"
  done
fi
render kubelet-start
sed -i "s|$NO_CERTIFICATES/|/etc/kubernetes/pki/|" "$rendered/config.yaml"
compare /var/lib/kubelet/config.yaml "$rendered/config.yaml"
compare_private
try_programs
