# foresail: reset w-1
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
mkdir -p /var/log/foresail /etc/foresail /var/lib/foresail
exec 3>&2 4>&1 5<&0 </dev/null
exec 9>>/run/foresail.lock
flock -w 1200 9 || { echo "another foresail step still runs on this machine (/run/foresail.lock); try again when it has ended" >&3; exit 75; }
exec >>/var/log/foresail/reset.log 2>&1
echo "== $(date -u +%FT%T.%3NZ) reset"
log_start=$(wc -l < /var/log/foresail/reset.log)
scratch=/run/foresail-step; rm -rf $scratch; mkdir $scratch
trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) /var/log/foresail/reset.log | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) reset ended with $status"; exit $status' EXIT
fail() { echo "$1"; exit "${2:-1}"; }
owner=$(cat /etc/foresail/machine 2>/dev/null || true)
if [ -n "$owner" ] && [ "$owner" != 'cluster=demo machine=w-1' ]; then
  fail 'w-1: this machine belongs to another foresail cluster or carries another name ('"$owner"'); take it out of that one first, or remove /etc/foresail/machine if that cluster is gone' 78
fi
if [ -z "$owner" ] && [ -n "$(find /etc/kubernetes -path /etc/kubernetes/tmp -prune -o -type f -print -quit 2>/dev/null)" ]; then
  fail 'w-1: /etc/kubernetes holds files that foresail did not make; it never wipes a cluster it did not make. If nothing on this machine is needed, run there: kubeadm reset --force; rm -rf /etc/kubernetes/*' 78
fi
if [ -z "$owner" ] && [ -n "$(find /etc/kubernetes/tmp -type f -print -quit 2>/dev/null)" ] && ! { grep -qs ' reset ended with 0$' /var/log/foresail/reset.log && [ -z "$(find /etc/kubernetes/tmp -newer /var/log/foresail/reset.log -print -quit)" ]; }; then
  fail 'w-1: /etc/kubernetes/tmp holds backups that kubeadm made of another cluster, which may contain a copy of its etcd. If nobody needs them, run there: rm -rf /etc/kubernetes/tmp' 78
fi
if [ ! -e /etc/foresail/machine ]; then exit 0; fi
systemctl disable --quiet --now foresail-node-agent 2>/dev/null || true
systemctl disable --quiet --now foresail-bridge 2>/dev/null || true
etcd_data=$(sed -n 's/^ *- --data-dir=//p' /etc/kubernetes/manifests/etcd.yaml 2>/dev/null || true); if [ -n "$etcd_data" ]; then printf '%s\n' "$etcd_data" > /var/lib/foresail/etcd-data; fi
if command -v kubeadm >/dev/null; then kubeadm reset --force --skip-phases=remove-etcd-member; fi
systemctl disable --quiet --now kubelet foresail-endpoint 2>/dev/null || true
if command -v ctr >/dev/null; then for attempt in 1 2 3; do [ -n "$(ctr --namespace k8s.io containers list --quiet)" ] || break; kubeadm reset phase cleanup-node || true; done; fi
for network in /var/run/netns/cni-*; do [ ! -e "$network" ] || ip netns delete "$(basename "$network")" || true; done
for device in $(ip -oneline link show type veth 2>/dev/null | grep -o 'veth[0-9a-f]\{8\}' | sort -u); do ip link delete "$device" || true; done
while read -r route; do ip route delete $route || true; done < <(ip route show type unreachable)
if command -v iptables-save >/dev/null; then iptables-save | grep -v -E 'KUBE-|CNI-|--comment foresail' | iptables-restore || true; fi
if [ -e /etc/systemd/system/foresail-own-address.service ]; then
  own=$(sed -n 's/^ExecStart=.* //p' /etc/systemd/system/foresail-own-address.service)
  systemctl disable --quiet --now foresail-own-address || true
  ip address delete "$own/32" dev lo 2>/dev/null || true
  rm -f /etc/systemd/system/foresail-own-address.service
fi
rm -rf "$(cat /var/lib/foresail/etcd-data 2>/dev/null || echo /var/lib/etcd)/member"
# kubeadm unmounts the volumes of pods, and what is in them is not of Kubernetes
mounted=$(awk '$2 ~ "^/var/lib/kubelet/" {print $2}' /proc/self/mounts)
[ -z "$mounted" ] || fail "volumes are still mounted: $(echo $mounted); unmount them, then run the command again"
for folder in /etc/kubernetes /var/lib/kubelet; do [ ! -d "$folder" ] || find "$folder" -mindepth 1 -xdev -delete; done
rm -rf /etc/cni/net.d/{10-foresail.conflist,.10-foresail.conflist.new,10-flannel.conflist,05-cilium.conflist,10-calico.conflist,calico-kubeconfig} /var/lib/cni /var/lib/calico /run/flannel /run/cilium /run/calico /var/log/pods /var/log/containers /usr/local/lib/foresail
rm -f /etc/systemd/system/foresail-node-agent.service /etc/systemd/system/foresail-bridge.service /etc/systemd/system/foresail-endpoint.service
rm -f /run/foresail-node-agent.lock /run/foresail-node-agent.words /run/foresail-endpoint.pid /run/foresail-containerd.toml
systemctl daemon-reload
rm -f /etc/foresail/node-agent.conf /etc/foresail/haproxy.cfg
rm -rf /var/lib/foresail
rm -f /etc/foresail/machine
exit 0
