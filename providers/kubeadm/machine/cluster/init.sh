# shellcheck shell=bash
# needs: common/kubeadm common/encryption common/prepared
# Runs kubeadm init, unless the machine is a member. Data: the kubeadm configuration.
# Parameters: ENCRYPTION_KEY (name of the key for Secrets at rest, which never leaves the control planes; empty for none)
refuse_foreign_machine
refuse_unnamed_owner
if [ -e "$MEMBER_PATH" ]; then exit 0; fi
refuse_unprepared "run \`destroy\`, which ends what was interrupted, then \`up\`"
refuse_other_preparation
cat <&5 >"$SCRATCH_PATH/kubeadm.yaml"
# the machine may have been rebooted a moment ago
await_containerd
clear_half_made
if [ -n "$ENCRYPTION_KEY" ] && [ ! -e "$ENCRYPTION_PATH" ]; then
  printf '%s %s\n' "$ENCRYPTION_KEY" "$(new_encryption_key)" | write_encryption
fi
kubeadm init --config "$SCRATCH_PATH/kubeadm.yaml" --skip-token-print --skip-certificate-key-print
record_configuration
mark_member
