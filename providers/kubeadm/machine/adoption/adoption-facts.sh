# shellcheck shell=bash
# needs: common/authority
# Reads what identifies a member of a kubeadm cluster that foresail did not make. Only reads: a machine that turns out to
# belong to no cluster, or to another one, is left as it was. Answers a line "name base64" for each fact.
set -euo pipefail
export LC_ALL=C

answer() { printf '%s %s\n' "$1" "$(base64 -w 0)"; }

# Prints the path of the program that the kubelet's unit starts.
kubelet_program() { systemctl show kubelet --property ExecStart --value 2>/dev/null | sed -n 's/.*path=\([^ ;]*\).*/\1/p' | head -n 1; }

manifest=/etc/kubernetes/manifests/kube-apiserver.yaml

# Prints the value of an argument of the API server, of which the last one counts: ARGUMENT.
argument() { if [ -e "$manifest" ]; then { grep -oE -e "--$1=[^]\"', ]*" "$manifest" || true; } | tail -n 1 | sed 's/^[^=]*=//'; fi; }

if [ -e "$MARKER_PATH" ]; then cat "$MARKER_PATH"; fi | answer marker
authority | answer authority
if [ -e /etc/machine-id ]; then cat /etc/machine-id; fi | answer machineId
ip -oneline -4 address show | awk '{split($4, cidr, "/"); print cidr[1]}' | answer addresses
# shellcheck source=/dev/null
(. /etc/os-release; echo "$ID $VERSION_ID $(uname -m)") | answer system
kubelet_program | answer kubelet
if [ -e "$manifest" ]; then echo yes; fi | answer controlPlane
argument secure-port | answer apiServerPort
argument client-ca-file | answer authorityFile
if [ -e "$manifest" ] && [ ! -e /etc/kubernetes/pki/ca.key ]; then echo yes; fi | answer externalAuthority
