# shellcheck shell=bash
# The steps of Kubernetes' own guide for one node, for the floors of rollouts.
# Exported by its callers: work (a folder with ssh_config), version, kubectl, KUBECONFIG, kubeadm_arguments

# Drains a node, upgrades it, waits for it and uncordons it: NODE CONTEXT KUBEADM_COMMAND...; CONTEXT of the kubeconfig may
# be empty.
upgrade() {
  set -euo pipefail
  local node=$1 context=$2
  shift 2
  # shellcheck disable=SC2154 # its callers export them
  ctl() { "$kubectl" ${context:+"--context=$context"} "$@"; }
  ctl drain "$node" --ignore-daemonsets --timeout=300s
  # shellcheck disable=SC2087,SC2154 # the version is filled in here; its callers export the rest
  ssh -F "$work/ssh_config" "$node" sudo -n bash -s <<STEPS
set -euo pipefail
swap() {
  install -m 0755 /opt/foresail/bundle/v$version/bin/\$1 /usr/local/bin/.\$1.new
  mv -f /usr/local/bin/.\$1.new /usr/local/bin/\$1
}
swap kubeadm
kubeadm $* $kubeadm_arguments
swap kubelet
swap kubectl
systemctl daemon-reload
systemctl restart kubelet
STEPS
  ctl wait --for=jsonpath='{.status.nodeInfo.kubeletVersion}'="v$version" "node/$node" --timeout=300s
  ctl wait --for=condition=Ready "node/$node" --timeout=300s
  ctl uncordon "$node"
}
export -f upgrade
