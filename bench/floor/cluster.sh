#!/usr/bin/env bash
# The floor of `pulumi up`: the same scripts on the same machines, by one hand-written script that is as parallel as
# the steps allow. It keeps no state, previews nothing and can't be run twice.
# $1: a folder with ssh_config, control-planes and workers (one name a line), and the rendered steps (bench/rendered-steps.ts)
set -euo pipefail
work=$1
mapfile -t planes <"$work/control-planes"
mapfile -t workers <"$work/workers"
first=${planes[0]}

on() { ssh -F "$work/ssh_config" "$@"; }
as_root() { on "$1" sudo -n bash -s >/dev/null; }
# waits for all, and fails when one of them failed
all() { for job in "$@"; do wait "$job"; done; }

jobs=()
for node in "${planes[@]}" "${workers[@]}"; do
  as_root "$node" <"$work/prepare-$node" &
  jobs+=($!)
done
all "${jobs[@]}"

as_root "$first" <"$work/init"
token=$(on "$first" sudo -n kubeadm token create --ttl 15m)
authority=$(on "$first" sudo -n base64 -w 0 /etc/kubernetes/pki/ca.crt)
secrets=""
if [ "${#planes[@]}" -gt 1 ]; then secrets=$(on "$first" sudo -n bash -s <"$work/secrets"); fi

join() {
  {
    cat "$work/join-$1"
    sed "s/@TOKEN@/$token/" "$work/join-$1.yaml" | base64 -w 0
    echo
    sed "s|@AUTHORITY@|$authority|" "$work/discovery.yaml" | base64 -w 0
    printf '\n%s\n' "$2"
  } | as_root "$1"
}
for node in "${planes[@]:1}"; do join "$node" "$secrets"; done
jobs=()
for node in "${workers[@]}"; do
  join "$node" "" &
  jobs+=($!)
done
all "${jobs[@]}"

# by name, since a worker registers after its join
nodes=("${planes[@]/#/node/}" "${workers[@]/#/node/}")
for condition in create condition=Ready; do
  on "$first" sudo -n kubectl --kubeconfig /etc/kubernetes/admin.conf wait "--for=$condition" "${nodes[@]}" --timeout=300s >/dev/null
done
