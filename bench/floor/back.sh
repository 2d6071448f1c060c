#!/usr/bin/env bash
# Puts all workers back to an older minor, between two runs of a measurement: a kubelet may be one behind its control plane.
# $1: a folder with ssh_config and workers (one name a line)   $2: version, such as 1.35.4
# $3: start or stop, for the node agent, which is idle during the script's run   $4: the version to go to, which is staged
# again for the agent, as it is before a rollout begins
set -euo pipefail
work=$1 version=$2 agent=$3 to=$4
mapfile -t workers <"$work/workers"

jobs=()
for node in "${workers[@]}"; do
  # shellcheck disable=SC2087 # the versions are filled in here
  ssh -F "$work/ssh_config" "$node" sudo -n bash -s >/dev/null <<STEPS &
set -euo pipefail
systemctl stop foresail-node-agent kubelet
for program in kubeadm kubelet kubectl; do
  install -m 0755 /opt/foresail/bundle/v$version/bin/\$program /usr/local/bin/.\$program.new
  mv -f /usr/local/bin/.\$program.new /usr/local/bin/\$program
done
systemctl start kubelet
if [ $agent = start ]; then
  for program in kubeadm kubelet kubectl; do bash /var/lib/foresail/agent/install/\$program/$to stage; done
fi
systemctl $agent foresail-node-agent
STEPS
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
