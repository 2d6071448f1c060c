# shellcheck shell=bash
# needs: common/adopted
# Reads what kubeadm writes again with a version of Kubernetes: as it is on this machine and in the cluster, and as the kubeadm
# of this machine would write it. Changes nothing: kubeadm renders into a folder in memory, and the API server is asked what
# it would store. Answers a line "name base64" for each text: "current NAME" and "0 NAME", "1 NAME", … for each configuration.
# Data: kubeadm configurations, with a line between them.
# Parameters:
#   NEXT              the line between two configurations
#   CONTROL_PLANE     whether this machine has static pods: yes or no
#   ADDONS            list of kubeadm's phases whose objects in the cluster are read, too: coredns, kube-proxy
#   PATCHES_OF_INIT, PATCHES_OF_JOIN   folders with the stack's patches for kubeadm (as of the node agent), or empty
#   ADOPTS            whether this machine is about to be adopted: yes or no
#   NO_CERTIFICATES   folder that a worker's kubeadm configuration names
set -euo pipefail
umask 077
export LC_ALL=C
manifests=/etc/kubernetes/manifests
folder=$(mktemp --directory /run/foresail-rewritten.XXXXXXXX)
trap 'rm -rf "$folder"' EXIT

answer() { printf '%s/%s %s\n' "$1" "$2" "$(base64 --wrap 0)"; }

# Answers a file, if there is one: OF NAME FILE.
answer_file() { if [ -f "$3" ]; then answer "$1" "$2" <"$3"; fi; }

kubectl_as_administrator() { kubectl --kubeconfig /etc/kubernetes/admin.conf --request-timeout=10s --namespace kube-system "$@"; }

# Puts this machine's own address, member of etcd, container runtime and patches into a kubeadm configuration: FILE.
complete() {
  local endpoint member runtime patches=$PATCHES_OF_JOIN
  if [ -e /etc/kubernetes/super-admin.conf ]; then patches=$PATCHES_OF_INIT; fi
  endpoint=$(sed -n 's|^ *kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: *||p' "$manifests/kube-apiserver.yaml" 2>/dev/null || true)
  member=$(sed -n 's/^ *- --name=//p' "$manifests/etcd.yaml" 2>/dev/null || true)
  runtime=$(sed -n 's|^containerRuntimeEndpoint: *"\{0,1\}\([^"]*\)"\{0,1\}$|\1|p' /var/lib/kubelet/instance-config.yaml 2>/dev/null || true)
  patches=$(patches_of_upgrade "$patches" "$ADOPTS")
  sed -i ${endpoint:+-e "s|^  advertiseAddress: .*|  advertiseAddress: ${endpoint%:*}|" -e "s|^  bindPort: .*|  bindPort: ${endpoint##*:}|"} \
    ${member:+-e "s|^  name: .*|  name: $member|"} ${runtime:+-e "s|^  criSocket: .*|  criSocket: $runtime|"} \
    ${patches:+-e "s|^kind: InitConfiguration\$|&\npatches:\n  directory: $patches|"} -e '' "$1"
}

# Lets kubeadm print or write what it would write: FOLDER PHASE... Without a proxy in its environment, like the node agent's.
render() {
  local into=$1
  shift
  timeout 30 env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin KUBEADM_INIT_DRYRUN_DIR="$into" \
    kubeadm init phase "$@" --config "$into.yaml" 2>"$folder/log" || {
    echo "kubeadm init phase $*: $(tail -n 3 "$folder/log")" >&2
    exit 1
  }
}

# Answers an object of the cluster, and what the API server would store for kubeadm's, for each configuration: KIND NAME NUMBER...
answer_addon() {
  local kind=$1 name=$2 at
  shift 2
  kubectl_as_administrator get "$kind" "$name" --ignore-not-found --output json >"$folder/object"
  if [ ! -s "$folder/object" ]; then return 0; fi
  answer_file current "$kind/$name" "$folder/object"
  for at; do
    # of several documents, kubectl replaces each
    awk -v kind="$kind" -v name="$name" 'function flush() { if (found_kind && found_name) printf "%s", text; text = ""; found_kind = found_name = 0 }
      /^---/ { flush(); sub(/^---/, ""); if ($0 == "") next }
      { text = text $0 "\n" }
      tolower($0) == "kind: " kind { found_kind = 1 }
      $0 == "  name: " name { found_name = 1 }
      END { flush() }' "$folder/$at/addons" >"$folder/document"
    if [ ! -s "$folder/document" ]; then continue; fi
    kubectl_as_administrator replace --dry-run=server --filename "$folder/document" --output json | answer "$at" "$kind/$name"
  done
}

numbers=()
split() {
  awk -v next_line="$NEXT" -v folder="$folder" 'BEGIN { at = 0; file = folder "/0.yaml" } $0 == next_line { file = folder "/" ++at ".yaml"; next } { print >file }'
}
split
for file in "$folder"/[0-9]*.yaml; do
  at=$(basename "$file" .yaml)
  numbers+=("$at")
  mkdir "$folder/$at"
  complete "$file"
  render "$folder/$at" kubelet-start --dry-run >/dev/null
  sed -i "s|$NO_CERTIFICATES/|/etc/kubernetes/pki/|" "$folder/$at/config.yaml"
  answer_file "$at" kubelet "$folder/$at/config.yaml"
  if [ "$CONTROL_PLANE" = yes ]; then
    render "$folder/$at" control-plane all --dry-run >/dev/null
    for name in kube-apiserver kube-controller-manager kube-scheduler; do answer_file "$at" "$name" "$folder/$at/$name.yaml"; done
    if [ -e "$manifests/etcd.yaml" ]; then
      render "$folder/$at" etcd local --dry-run >/dev/null
      answer_file "$at" etcd "$folder/$at/etcd.yaml"
    fi
  fi
  for name in "${ADDONS[@]}"; do render "$folder/$at" addon "$name" --print-manifest; done >"$folder/$at/addons"
done
answer_file current kubelet /var/lib/kubelet/config.yaml
if [ "$CONTROL_PLANE" = yes ]; then
  for name in kube-apiserver kube-controller-manager kube-scheduler etcd; do answer_file current "$name" "$manifests/$name.yaml"; done
fi
for name in "${ADDONS[@]}"; do
  if [ "$name" = kube-proxy ]; then objects="daemonset/kube-proxy configmap/kube-proxy"; else objects="deployment/coredns configmap/coredns service/kube-dns"; fi
  for object in $objects; do answer_addon "${object%/*}" "${object#*/}" "${numbers[@]}"; done
done
