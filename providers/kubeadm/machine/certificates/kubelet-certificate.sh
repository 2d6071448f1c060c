# shellcheck shell=bash
# needs: common/kubelet-certificate
# Gives the kubelet a client certificate for the key of kubelet-request, and restarts it. Data: the certificate, base64.
refuse_foreign_machine
read -r certificate <&5
base64 -d <<<"$certificate" >"$SCRATCH_PATH/kubelet.crt"
openssl x509 -noout -pubkey -in "$SCRATCH_PATH/kubelet.crt" | cmp --silent - <(openssl pkey -in "$AGENT_PATH/kubelet.key" -pubout) ||
  fail "$MACHINE: the certificate is not for the key on this machine; run the command again"
place_kubelet_certificate "$SCRATCH_PATH/kubelet.crt" "$AGENT_PATH/kubelet.key"
rm -f "$AGENT_PATH/kubelet.key"
