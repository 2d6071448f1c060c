#!/usr/bin/env bash
# The floor of a rollout of workers: the steps of Kubernetes' own guide, by one hand-written script.
# It checks nothing, takes no locks and can't be run twice; control planes are done already.
# $1: a folder with ssh_config and workers (one name a line)   $2: version, such as 1.36.3   $3: how many at once
# $4: kubectl   $5: kubeconfig   $6...: kubeadm's further arguments
set -euo pipefail
# shellcheck source=bench/floor/upgrade.sh
. "$(dirname "$0")/upgrade.sh"
export work=$1 version=$2 kubectl=$4 KUBECONFIG=$5
at_once=$3
shift 5
export kubeadm_arguments="$*"

# shellcheck disable=SC2016 # xargs' shell fills it in
xargs --max-procs="$at_once" --max-args=1 bash -c 'upgrade "$1" "" upgrade node' upgrade <"$work/workers"
