# shellcheck shell=bash
# Runs kubeadm join, unless the machine is a member. Data: three base64 lines: the configuration, the discovery file, and
# for a control plane the archive of control-plane-secrets.
# Parameters: VERSION is that of the cluster: the machine may have been prepared for another version, which the rollout
# installs after the join as on every other node
refuse_foreign_machine
if [ -e "$MEMBER_PATH" ]; then exit 0; fi
refuse_other_preparation
read -r configuration <&5
read -r discovery <&5
read -r secrets <&5
# the machine may have been rebooted a moment ago
await_containerd
clear_half_made
install_kubernetes kubeadm kubelet kubectl
import_images machine
printf '%s' "$configuration" | base64 -d >"$SCRATCH_PATH/join.yaml"
printf '%s' "$discovery" | base64 -d >"$SCRATCH_PATH/discovery.yaml"
if [ -n "$secrets" ]; then
  mkdir -p /etc/kubernetes
  printf '%s' "$secrets" | base64 -d | tar -xf - -C /etc/kubernetes
fi
kubeadm join --config "$SCRATCH_PATH/join.yaml"
record_configuration
mark_member
