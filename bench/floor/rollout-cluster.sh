#!/usr/bin/env bash
# The floor of a rollout of a whole cluster, one node at a time, by the steps of Kubernetes' own guide. It checks nothing,
# takes no locks and can't be run twice.
# $1: a folder with ssh_config, control-planes and workers (one name a line)   $2: version, such as 1.36.3
# $3: kubectl   $4: kubeconfig with a context bench-NAME for each control plane   $5...: kubeadm's further arguments
set -euo pipefail
# shellcheck source=bench/floor/upgrade.sh
. "$(dirname "$0")/upgrade.sh"
export work=$1 version=$2 kubectl=$3 KUBECONFIG=$4
shift 4
export kubeadm_arguments="$*"
mapfile -t planes <"$work/control-planes"
mapfile -t workers <"$work/workers"

# as foresail's NodeAgents do it before its first drain
jobs=()
for node in "${planes[@]}" "${workers[@]}"; do
  ssh -F "$work/ssh_config" "$node" "sudo -n systemctl stop foresail-node-agent &&
    for archive in /opt/foresail/bundle/v$version/images/*.tar; do sudo -n ctr --namespace k8s.io images import \$archive; done" >/dev/null &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done

how=(upgrade apply "v$version" --yes)
for node in "${planes[@]}"; do
  # its own API server restarts
  other=${planes[0]}
  if [ "$node" = "$other" ]; then other=${planes[1]}; fi
  upgrade "$node" "bench-$other" "${how[@]}"
  how=(upgrade node)
done
for node in "${workers[@]}"; do upgrade "$node" "bench-${planes[0]}" upgrade node; done
