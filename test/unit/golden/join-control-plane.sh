# foresail: join-control-plane cp-2
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
mkdir -p /var/log/foresail /etc/foresail /var/lib/foresail
exec 3>&2 4>&1 5<&0 </dev/null
exec 9>>/run/foresail.lock
flock -w 1200 9 || { echo "another foresail step still runs on this machine (/run/foresail.lock); try again when it has ended" >&3; exit 75; }
exec >>/var/log/foresail/join-control-plane.log 2>&1
echo "== $(date -u +%FT%T.%3NZ) join-control-plane"
log_start=$(wc -l < /var/log/foresail/join-control-plane.log)
scratch=/run/foresail-step; rm -rf $scratch; mkdir $scratch
trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) /var/log/foresail/join-control-plane.log | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) join-control-plane ended with $status"; exit $status' EXIT
fail() { echo "$1"; exit "${2:-1}"; }
owner=$(cat /etc/foresail/machine 2>/dev/null || true)
if [ -n "$owner" ] && [ "$owner" != 'cluster=demo machine=cp-2' ]; then
  fail 'cp-2: this machine belongs to another foresail cluster or carries another name ('"$owner"'); take it out of that one first, or remove /etc/foresail/machine if that cluster is gone' 78
fi
if [ -z "$owner" ] && [ -n "$(find /etc/kubernetes -path /etc/kubernetes/tmp -prune -o -type f -print -quit 2>/dev/null)" ]; then
  fail 'cp-2: /etc/kubernetes holds files that foresail did not make; it never wipes a cluster it did not make. If nothing on this machine is needed, run there: kubeadm reset --force; rm -rf /etc/kubernetes/*' 78
fi
if [ -z "$owner" ] && [ -n "$(find /etc/kubernetes/tmp -type f -print -quit 2>/dev/null)" ] && ! { grep -qs ' reset ended with 0$' /var/log/foresail/reset.log && [ -z "$(find /etc/kubernetes/tmp -newer /var/log/foresail/reset.log -print -quit)" ]; }; then
  fail 'cp-2: /etc/kubernetes/tmp holds backups that kubeadm made of another cluster, which may contain a copy of its etcd. If nobody needs them, run there: rm -rf /etc/kubernetes/tmp' 78
fi
if [ -e /var/lib/foresail/member ]; then exit 0; fi
read -r configuration <&5; read -r discovery <&5; read -r secrets <&5
if [ -n "$(find /etc/kubernetes/{manifests,pki} /etc/kubernetes/{admin,super-admin,kubelet,bootstrap-kubelet,controller-manager,scheduler}.conf -type f -print -quit 2>/dev/null)" ]; then
  kubeadm reset --force --skip-phases=remove-etcd-member
fi
rm -rf /var/lib/etcd/member
[ -d '/opt/foresail/bundle/v1.36.3' ] || fail 'the bundle folder /opt/foresail/bundle/v1.36.3 is not on this machine' 66
differing=""
for program in kubeadm kubelet kubectl; do cmp --silent '/opt/foresail/bundle/v1.36.3'/bin/$program /usr/local/bin/$program || differing="$differing $program"; done
if [ -n "$differing" ]; then
if [ -f '/opt/foresail/bundle/v1.36.3'/SHA256SUMS ]; then
  for program in $differing; do
    # where the processor knows SHA-256, openssl is several times as fast
    if command -v openssl >/dev/null; then sum=$(openssl dgst -sha256 -r '/opt/foresail/bundle/v1.36.3'/bin/$program || true); else sum=$(sha256sum '/opt/foresail/bundle/v1.36.3'/bin/$program || true); fi
    grep -qixE "${sum%% *} [ *]bin/$program" '/opt/foresail/bundle/v1.36.3'/SHA256SUMS || fail "bin/$program of the bundle does not match its SHA256SUMS" 65
  done
fi
found=$('/opt/foresail/bundle/v1.36.3'/bin/kubeadm version --output=short)
[ "$found" = 'v1.35.4' ] || fail "the bundle holds Kubernetes $found; the configuration wants v1.35.4" 65
  for program in $differing; do
    install -m 0755 '/opt/foresail/bundle/v1.36.3'/bin/$program /usr/local/bin/.$program.foresail-new
    mv -f /usr/local/bin/.$program.foresail-new /usr/local/bin/$program
  done
fi
(umask 022; mkdir -p "$(dirname '/etc/systemd/system/kubelet.service')")
cat > '/etc/systemd/system/kubelet.service.foresail-new' <<'FORESAIL_END_OF_FILE'
[Unit]
Description=kubelet: the Kubernetes node agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target containerd.service

[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
Restart=always
StartLimitInterval=0
RestartSec=2

[Install]
WantedBy=multi-user.target
FORESAIL_END_OF_FILE
chmod 0644 '/etc/systemd/system/kubelet.service.foresail-new'
if ! cmp --silent '/etc/systemd/system/kubelet.service.foresail-new' '/etc/systemd/system/kubelet.service'; then changed=yes; fi
mv -f '/etc/systemd/system/kubelet.service.foresail-new' '/etc/systemd/system/kubelet.service'
have=$(ctr --namespace k8s.io images list --quiet)
wanted=$(/usr/local/bin/kubeadm config images list --kubernetes-version v1.35.4 2>/dev/null)
missing=no
for image in $wanted; do grep -qxF "$image" <<<"$have" || missing=yes; done
if [ "$missing" = yes ] && compgen -G '/opt/foresail/bundle/v1.36.3'/images/'*.tar' >/dev/null; then
  for archive in '/opt/foresail/bundle/v1.36.3'/images/*.tar; do ctr --namespace k8s.io images import "$archive" >/dev/null; done
fi
mkdir -p $scratch; printf '%s' "$configuration" | base64 -d > $scratch/join.yaml
printf '%s' "$discovery" | base64 -d > /run/foresail-step/discovery.yaml
if [ -n "$secrets" ]; then mkdir -p /etc/kubernetes; printf '%s' "$secrets" | base64 -d | tar -xf - -C /etc/kubernetes; fi
kubeadm join --config $scratch/join.yaml
date -u +%FT%TZ > /var/lib/foresail/member
exit 0
