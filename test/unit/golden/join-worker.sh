# foresail: join-worker w-1
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
mkdir -p /var/log/foresail /etc/foresail /var/lib/foresail
exec 3>&2 4>&1 5<&0 </dev/null
exec 9>>/run/foresail.lock
flock -w 1200 9 || { echo "another foresail step still runs on this machine (/run/foresail.lock); try again when it has ended" >&3; exit 75; }
exec >>/var/log/foresail/join-worker.log 2>&1
echo "== $(date -u +%FT%T.%3NZ) join-worker"
log_start=$(wc -l < /var/log/foresail/join-worker.log)
scratch=/run/foresail-step; rm -rf $scratch; mkdir $scratch
trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) /var/log/foresail/join-worker.log | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) join-worker ended with $status"; exit $status' EXIT
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
if [ -e /var/lib/foresail/member ]; then exit 0; fi
read -r configuration <&5; read -r discovery <&5; read -r secrets <&5
if [ -n "$(find /etc/kubernetes/{manifests,pki} /etc/kubernetes/{admin,super-admin,kubelet,bootstrap-kubelet,controller-manager,scheduler}.conf -type f -print -quit 2>/dev/null)" ]; then
  kubeadm reset --force --skip-phases=remove-etcd-member
fi
rm -rf /var/lib/etcd/member
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' kubeadm kubelet kubectl 2>/dev/null | grep -cE '^installed 1\.36\.3-' || true)
if [ "$installed" != 3 ]; then
  (umask 022; mkdir -p /etc/apt/keyrings)
  curl --fail --silent --show-error --location --retry 3 --max-time 60 'https://packages.example.com/v1.36/deb/Release.key' --output /etc/apt/keyrings/foresail-kubernetes.asc \
    || fail 'the key of the Kubernetes repository could not be read from https://packages.example.com/v1.36/deb/Release.key; check cluster.source.packages.repository, and that this machine reaches it' 66
  chmod 0644 /etc/apt/keyrings/foresail-kubernetes.asc
(umask 022; mkdir -p "$(dirname '/etc/apt/sources.list.d/foresail-kubernetes.list')")
cat > '/etc/apt/sources.list.d/foresail-kubernetes.list.foresail-new' <<'FORESAIL_END_OF_FILE'
deb [signed-by=/etc/apt/keyrings/foresail-kubernetes.asc] https://packages.example.com/v1.36/deb/ /
FORESAIL_END_OF_FILE
chmod 0644 '/etc/apt/sources.list.d/foresail-kubernetes.list.foresail-new'
if ! cmp --silent '/etc/apt/sources.list.d/foresail-kubernetes.list.foresail-new' '/etc/apt/sources.list.d/foresail-kubernetes.list'; then changed=yes; fi
mv -f '/etc/apt/sources.list.d/foresail-kubernetes.list.foresail-new' '/etc/apt/sources.list.d/foresail-kubernetes.list'
  apt-get update --quiet -o Dir::Etc::sourcelist=sources.list.d/foresail-kubernetes.list -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any \
    || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ could not be read, or its signature is not of the key in its Release.key; nothing was installed from it' 65
  for package in kubeadm kubelet kubectl; do
    apt-cache madison "$package" | cut -d '|' -f 2 | grep -E '^ *1\.36\.3-' \
      || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ has no '"$package 1.36.3; it has: $(apt-cache madison "$package" | cut -d '|' -f 2 | tr -d ' ' | head -n 10 | xargs)" 65
  done
  dpkg --configure -a
  apt-mark unhold kubeadm kubelet kubectl || true
  apt-get install --yes --quiet --no-install-recommends --allow-downgrades -o DPkg::Lock::Timeout=300 'kubeadm=1.36.3-*' 'kubelet=1.36.3-*' 'kubectl=1.36.3-*'
  apt-mark hold kubeadm kubelet kubectl
fi
:
mkdir -p $scratch; printf '%s' "$configuration" | base64 -d > $scratch/join.yaml
printf '%s' "$discovery" | base64 -d > /run/foresail-step/discovery.yaml
if [ -n "$secrets" ]; then mkdir -p /etc/kubernetes; printf '%s' "$secrets" | base64 -d | tar -xf - -C /etc/kubernetes; fi
kubeadm join --config $scratch/join.yaml
date -u +%FT%TZ > /var/lib/foresail/member
exit 0
