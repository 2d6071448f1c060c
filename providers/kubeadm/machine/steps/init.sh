# shellcheck shell=bash
# Runs kubeadm init, unless the machine is a member. Data: the kubeadm configuration.
# Parameters: ENCRYPT_SECRETS (yes or no)

# Creates the key for Secrets at rest, once; it never leaves the control planes.
ensure_encryption() {
  if [ -e "$ENCRYPTION_PATH" ]; then return 0; fi
  mkdir -p "$(dirname "$ENCRYPTION_PATH")"
  cat >"$ENCRYPTION_PATH.new" <<YAML
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - secretbox:
          keys:
            - name: foresail-1
              secret: $(head -c 32 /dev/urandom | base64 -w 0)
      - identity: {}
YAML
  mv "$ENCRYPTION_PATH.new" "$ENCRYPTION_PATH"
}

refuse_foreign_machine
if [ -e "$MEMBER_PATH" ]; then exit 0; fi
cat <&5 >"$SCRATCH_PATH/kubeadm.yaml"
clear_half_made
if [ "$ENCRYPT_SECRETS" = yes ]; then ensure_encryption; fi
kubeadm init --config "$SCRATCH_PATH/kubeadm.yaml" --skip-token-print --skip-certificate-key-print
mark_member
