# shellcheck shell=bash
# needs: common/kubelet-certificate
# Makes a key for the kubelet's client certificate, which stays on this machine. Answers a request for the certificate, PEM.
refuse_foreign_machine
mkdir -p "$AGENT_PATH"
request_kubelet_certificate "$AGENT_PATH/kubelet.key" "$SCRATCH_PATH/kubelet.csr"
cat "$SCRATCH_PATH/kubelet.csr" >&4
