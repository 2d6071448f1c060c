#!/usr/bin/env bash
# The floor of a rollout of workers: the steps of Kubernetes' own guide, by one hand-written script.
# It checks nothing, takes no locks and can't be run twice; control planes are done already.
# $1: a folder with ssh_config and workers (one name a line)   $2: version, such as 1.36.3   $3: how many at once
# $4: kubectl   $5: kubeconfig   $6...: kubeadm's further arguments
set -euo pipefail
export work=$1 version=$2 kubectl=$4 KUBECONFIG=$5
at_once=$3
shift 5
export kubeadm_arguments="$*"

upgrade() {
  set -euo pipefail
  node=$1
  "$kubectl" drain "$node" --ignore-daemonsets --timeout=300s
  # shellcheck disable=SC2087 # the version is filled in here
  ssh -F "$work/ssh_config" "$node" sudo -n bash -s <<STEPS
set -euo pipefail
swap() {
  install -m 0755 /opt/foresail/bundle/v$version/bin/\$1 /usr/local/bin/.\$1.new
  mv -f /usr/local/bin/.\$1.new /usr/local/bin/\$1
}
swap kubeadm
kubeadm upgrade node $kubeadm_arguments
swap kubelet
swap kubectl
systemctl daemon-reload
systemctl restart kubelet
STEPS
  "$kubectl" wait --for=jsonpath='{.status.nodeInfo.kubeletVersion}'="v$version" "node/$node" --timeout=300s
  "$kubectl" wait --for=condition=Ready "node/$node" --timeout=300s
  "$kubectl" uncordon "$node"
}
export -f upgrade

# shellcheck disable=SC2016 # xargs' shell fills it in
xargs --max-procs="$at_once" --max-args=1 bash -c 'upgrade "$1"' upgrade <"$work/workers"
