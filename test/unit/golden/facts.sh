# foresail: facts cp-1
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
mkdir -p /var/log/foresail /etc/foresail /var/lib/foresail
exec 3>&2 4>&1 5<&0 </dev/null
exec 9>>/run/foresail.lock
flock -w 1200 9 || { echo "another foresail step still runs on this machine (/run/foresail.lock); try again when it has ended" >&3; exit 75; }
exec >>/var/log/foresail/facts.log 2>&1
echo "== $(date -u +%FT%T.%3NZ) facts"
log_start=$(wc -l < /var/log/foresail/facts.log)
scratch=/run/foresail-step; rm -rf $scratch; mkdir $scratch
trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) /var/log/foresail/facts.log | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) facts ended with $status"; exit $status' EXIT
fail() { echo "$1"; exit "${2:-1}"; }
owner=$(cat /etc/foresail/machine 2>/dev/null || true)
if [ -n "$owner" ] && [ "$owner" != 'cluster=demo machine=cp-1' ]; then
  fail 'cp-1: this machine belongs to another foresail cluster or carries another name ('"$owner"'); take it out of that one first, or remove /etc/foresail/machine if that cluster is gone' 78
fi
if [ -z "$owner" ] && [ -n "$(find /etc/kubernetes -path /etc/kubernetes/tmp -prune -o -type f -print -quit 2>/dev/null)" ]; then
  fail 'cp-1: /etc/kubernetes holds files that foresail did not make; it never wipes a cluster it did not make. If nothing on this machine is needed, run there: kubeadm reset --force; rm -rf /etc/kubernetes/*' 78
fi
if [ -z "$owner" ] && [ -n "$(find /etc/kubernetes/tmp -type f -print -quit 2>/dev/null)" ] && ! { grep -qs ' reset ended with 0$' /var/log/foresail/reset.log && [ -z "$(find /etc/kubernetes/tmp -newer /var/log/foresail/reset.log -print -quit)" ]; }; then
  fail 'cp-1: /etc/kubernetes/tmp holds backups that kubeadm made of another cluster, which may contain a copy of its etcd. If nobody needs them, run there: rm -rf /etc/kubernetes/tmp' 78
fi
member=false; if [ -e /var/lib/foresail/member ]; then member=true; fi
control_plane=false; if [ -e /etc/kubernetes/manifests/kube-apiserver.yaml ]; then control_plane=true; fi
printf '{"member":%s,"controlPlane":%s}\n' "$member" "$control_plane" >&4
exit 0
