# shellcheck shell=bash
# needs: common/member
# Reads what a preview has to know about a machine that is new to the stack. Only reads, without a lock, a log or a folder on
# the machine. Answers a line "name base64" for each fact.
set -euo pipefail
export LC_ALL=C

answer() { printf '%s %s\n' "$1" "$(base64 -w 0)"; }

# a mark is shorter than 1024 bytes; what is longer is damaged
if [ -e "$MARKER_PATH" ]; then head -c 1024 "$MARKER_PATH"; fi | answer marker
# adopt.sh writes "adopted …", a join its time
if is_member; then head -c 64 "$MEMBER_PATH"; fi | answer member
# copies of one disk differ in the boot, and containers on one host in their devices
cat /etc/machine-id /proc/sys/kernel/random/boot_id /sys/class/net/*/address 2>/dev/null | sort | sha256sum | cut -d ' ' -f 1 | answer identity
# what is fixed since kubeadm init, from what the control plane's programs run with; nothing before the init has ended
fixed() {
  local manifests=/etc/kubernetes/manifests
  if ! is_member || [ ! -e "$manifests/kube-apiserver.yaml" ]; then return 0; fi
  sed -n 's/^ *- --cluster-cidr=/podSubnet /p' "$manifests/kube-controller-manager.yaml"
  sed -n 's/^ *- --service-cluster-ip-range=/serviceSubnet /p' "$manifests/kube-apiserver.yaml"
  sed -n 's/^clusterDomain: /dnsDomain /p' /var/lib/kubelet/config.yaml
  sed -n 's|^ *server: https://|endpoint |p' /etc/kubernetes/admin.conf
}
{ fixed 2>/dev/null || true; } | head -c 1024 | answer fixed
# seconds since its node agent last began or repeated a change that has not ended
changing() {
  local file=$AGENT_PATH/unfinished
  case $(cat "$file") in "" | no) ;; *) echo $(($(date +%s) - $(stat --format=%Y "$file"))) ;; esac
}
{ changing 2>/dev/null || true; } | answer changing
# whether a join as a control plane has begun here and not ended: etcd may have this machine as a member
if ! is_member && [ -e /etc/kubernetes/manifests/etcd.yaml ]; then echo yes; fi | answer begunControlPlane
