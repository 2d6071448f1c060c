# foresail: init cp-1
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
mkdir -p /var/log/foresail /etc/foresail /var/lib/foresail
exec 3>&2 4>&1 5<&0 </dev/null
exec 9>>/run/foresail.lock
flock -w 1200 9 || { echo "another foresail step still runs on this machine (/run/foresail.lock); try again when it has ended" >&3; exit 75; }
exec >>/var/log/foresail/init.log 2>&1
echo "== $(date -u +%FT%T.%3NZ) init"
log_start=$(wc -l < /var/log/foresail/init.log)
scratch=/run/foresail-step; rm -rf $scratch; mkdir $scratch
trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) /var/log/foresail/init.log | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) init ended with $status"; exit $status' EXIT
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
if [ -e /var/lib/foresail/member ]; then exit 0; fi
cat <&5 > $scratch/kubeadm.yaml
if [ -n "$(find /etc/kubernetes/{manifests,pki} /etc/kubernetes/{admin,super-admin,kubelet,bootstrap-kubelet,controller-manager,scheduler}.conf -type f -print -quit 2>/dev/null)" ]; then
  kubeadm reset --force --skip-phases=remove-etcd-member
fi
rm -rf /var/lib/etcd/member
if [ ! -e /etc/kubernetes/foresail/encryption.yaml ]; then
  mkdir -p "$(dirname /etc/kubernetes/foresail/encryption.yaml)"
  cat > /etc/kubernetes/foresail/encryption.yaml.new <<YAML
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
  mv /etc/kubernetes/foresail/encryption.yaml.new /etc/kubernetes/foresail/encryption.yaml
fi
kubeadm init --config $scratch/kubeadm.yaml --skip-token-print --skip-certificate-key-print
date -u +%FT%TZ > /var/lib/foresail/member
exit 0
