# foresail: prepare w-1
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
mkdir -p /var/log/foresail /etc/foresail /var/lib/foresail
exec 3>&2 4>&1 5<&0 </dev/null
exec 9>>/run/foresail.lock
flock -w 1200 9 || { echo "another foresail step still runs on this machine (/run/foresail.lock); try again when it has ended" >&3; exit 75; }
exec >>/var/log/foresail/prepare.log 2>&1
echo "== $(date -u +%FT%T.%3NZ) prepare"
log_start=$(wc -l < /var/log/foresail/prepare.log)
scratch=/run/foresail-step; rm -rf $scratch; mkdir $scratch
trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) /var/log/foresail/prepare.log | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) prepare ended with $status"; exit $status' EXIT
fail() { echo "$1"; exit "${2:-1}"; }
system=$(. /etc/os-release; echo "$ID $VERSION_ID")
case "$system" in
  "debian 12"|"ubuntu 22.04"|"ubuntu 24.04") ;;
  *) fail "w-1: runs $system; foresail supports Debian 12, Ubuntu 22.04, Ubuntu 24.04" 78 ;;
esac
case "$(uname -m)" in
  x86_64|aarch64) ;;
  *) fail "w-1: has a $(uname -m) processor; foresail supports amd64 and arm64" 78 ;;
esac
in_container=no
if systemd-detect-virt --container --quiet; then in_container=yes; fi
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
if [ -z "$owner" ]; then rm -rf /etc/kubernetes/tmp; fi
printf '%s\n' 'cluster=demo machine=w-1' > /etc/foresail/machine
changed=no
(umask 022; mkdir -p "$(dirname '/usr/local/share/ca-certificates/foresail.crt')")
cat > '/usr/local/share/ca-certificates/foresail.crt.foresail-new' <<'FORESAIL_END_OF_FILE'
-----BEGIN CERTIFICATE-----
MIIB
-----END CERTIFICATE-----
FORESAIL_END_OF_FILE
chmod 0644 '/usr/local/share/ca-certificates/foresail.crt.foresail-new'
if ! cmp --silent '/usr/local/share/ca-certificates/foresail.crt.foresail-new' '/usr/local/share/ca-certificates/foresail.crt'; then changed=yes; fi
mv -f '/usr/local/share/ca-certificates/foresail.crt.foresail-new' '/usr/local/share/ca-certificates/foresail.crt'
if [ "$changed" = yes ]; then update-ca-certificates >/dev/null; fi
export 'HTTP_PROXY=http://proxy.example.com:3128' 'http_proxy=http://proxy.example.com:3128'
export 'NO_PROXY=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com' 'no_proxy=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com'
(umask 022; mkdir -p "$(dirname '/etc/systemd/system/containerd.service.d/foresail-proxy.conf')")
cat > '/etc/systemd/system/containerd.service.d/foresail-proxy.conf.foresail-new' <<'FORESAIL_END_OF_FILE'
[Service]
Environment="HTTP_PROXY=http://proxy.example.com:3128"
Environment="NO_PROXY=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com"
FORESAIL_END_OF_FILE
chmod 0644 '/etc/systemd/system/containerd.service.d/foresail-proxy.conf.foresail-new'
if ! cmp --silent '/etc/systemd/system/containerd.service.d/foresail-proxy.conf.foresail-new' '/etc/systemd/system/containerd.service.d/foresail-proxy.conf'; then changed=yes; fi
mv -f '/etc/systemd/system/containerd.service.d/foresail-proxy.conf.foresail-new' '/etc/systemd/system/containerd.service.d/foresail-proxy.conf'
(umask 022; mkdir -p "$(dirname '/etc/systemd/system/kubelet.service.d/foresail-proxy.conf')")
cat > '/etc/systemd/system/kubelet.service.d/foresail-proxy.conf.foresail-new' <<'FORESAIL_END_OF_FILE'
[Service]
Environment="HTTP_PROXY=http://proxy.example.com:3128"
Environment="NO_PROXY=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com"
FORESAIL_END_OF_FILE
chmod 0644 '/etc/systemd/system/kubelet.service.d/foresail-proxy.conf.foresail-new'
if ! cmp --silent '/etc/systemd/system/kubelet.service.d/foresail-proxy.conf.foresail-new' '/etc/systemd/system/kubelet.service.d/foresail-proxy.conf'; then changed=yes; fi
mv -f '/etc/systemd/system/kubelet.service.d/foresail-proxy.conf.foresail-new' '/etc/systemd/system/kubelet.service.d/foresail-proxy.conf'
(umask 022; mkdir -p "$(dirname '/etc/apt/apt.conf.d/90foresail-proxy')")
cat > '/etc/apt/apt.conf.d/90foresail-proxy.foresail-new' <<'FORESAIL_END_OF_FILE'
Acquire::http::Proxy "http://proxy.example.com:3128";
FORESAIL_END_OF_FILE
chmod 0644 '/etc/apt/apt.conf.d/90foresail-proxy.foresail-new'
if ! cmp --silent '/etc/apt/apt.conf.d/90foresail-proxy.foresail-new' '/etc/apt/apt.conf.d/90foresail-proxy'; then changed=yes; fi
mv -f '/etc/apt/apt.conf.d/90foresail-proxy.foresail-new' '/etc/apt/apt.conf.d/90foresail-proxy'
restart_containerd=$changed
(umask 022; mkdir -p "$(dirname '/etc/modules-load.d/foresail.conf')")
cat > '/etc/modules-load.d/foresail.conf.foresail-new' <<'FORESAIL_END_OF_FILE'
overlay
br_netfilter
FORESAIL_END_OF_FILE
chmod 0644 '/etc/modules-load.d/foresail.conf.foresail-new'
if ! cmp --silent '/etc/modules-load.d/foresail.conf.foresail-new' '/etc/modules-load.d/foresail.conf'; then changed=yes; fi
mv -f '/etc/modules-load.d/foresail.conf.foresail-new' '/etc/modules-load.d/foresail.conf'
if [ "$in_container" = no ]; then modprobe -a overlay br_netfilter; fi
(umask 022; mkdir -p "$(dirname '/etc/sysctl.d/90-foresail.conf')")
cat > '/etc/sysctl.d/90-foresail.conf.foresail-new' <<'FORESAIL_END_OF_FILE'
net.ipv4.ip_forward = 1
-net.bridge.bridge-nf-call-iptables = 1
-net.bridge.bridge-nf-call-ip6tables = 1
-net.ipv4.neigh.default.gc_thresh1 = 4096
-net.ipv4.neigh.default.gc_thresh2 = 8192
-net.ipv4.neigh.default.gc_thresh3 = 16384
-fs.inotify.max_user_instances = 8192
-fs.inotify.max_user_watches = 524288
FORESAIL_END_OF_FILE
chmod 0644 '/etc/sysctl.d/90-foresail.conf.foresail-new'
if ! cmp --silent '/etc/sysctl.d/90-foresail.conf.foresail-new' '/etc/sysctl.d/90-foresail.conf'; then changed=yes; fi
mv -f '/etc/sysctl.d/90-foresail.conf.foresail-new' '/etc/sysctl.d/90-foresail.conf'
sysctl --quiet --ignore --load=/etc/sysctl.d/90-foresail.conf
if [ "$in_container" = no ] && [ -n "$(swapon --noheadings --show 2>/dev/null)" ]; then
  swapoff -a
  sed -i -E 's@^([^#].*[[:space:]]swap[[:space:]].*)$@# foresail: \1@' /etc/fstab
fi
missing=""
for package in containerd conntrack socat iptables ethtool curl ca-certificates; do
  if ! dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed; then missing="$missing $package"; fi
done
if [ -n "$missing" ]; then
  apt-get update --quiet
  apt-get install --yes --quiet --no-install-recommends -o DPkg::Lock::Timeout=300 $missing
fi
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
(umask 022; mkdir -p "$(dirname '/etc/containerd/certs.d/docker.io/hosts.toml')")
cat > '/etc/containerd/certs.d/docker.io/hosts.toml.foresail-new' <<'FORESAIL_END_OF_FILE'
server = "https://registry-1.docker.io"

[host."https://mirror.example.com"]
  capabilities = ["pull", "resolve"]
FORESAIL_END_OF_FILE
chmod 0644 '/etc/containerd/certs.d/docker.io/hosts.toml.foresail-new'
if ! cmp --silent '/etc/containerd/certs.d/docker.io/hosts.toml.foresail-new' '/etc/containerd/certs.d/docker.io/hosts.toml'; then changed=yes; fi
mv -f '/etc/containerd/certs.d/docker.io/hosts.toml.foresail-new' '/etc/containerd/certs.d/docker.io/hosts.toml'
pause=$(kubeadm config images list --kubernetes-version v1.36.3 --image-repository 'registry.example.com/k8s' 2>/dev/null | grep '/pause:')
mkdir -p /etc/containerd /opt/cni/bin
containerd config default | sed -E \
  -e "s|^( *sandbox_image = ).*|\1\"$pause\"|" \
  -e 's|^( *SystemdCgroup = ).*|\1true|' \
  -e 's|^( *config_path = )""|\1"/etc/containerd/certs.d"|' \
  > /run/foresail-containerd.toml
# a container may not raise its own out-of-memory score
if [ "$in_container" = yes ]; then sed -i -E 's|^( *restrict_oom_score_adj = ).*|\1true|' /run/foresail-containerd.toml; fi
cat <&5 >> /run/foresail-containerd.toml
chmod 0600 /run/foresail-containerd.toml
if ! cmp --silent /run/foresail-containerd.toml /etc/containerd/config.toml || [ "$restart_containerd" = yes ] || ! systemctl is-active --quiet containerd; then
  mv -f /run/foresail-containerd.toml /etc/containerd/config.toml
  systemctl daemon-reload
  systemctl enable --quiet containerd
  systemctl restart containerd
else
  rm -f /run/foresail-containerd.toml
fi
timeout 60 bash -c 'until ctr version >/dev/null 2>&1; do sleep 0.2; done' || fail "containerd did not answer within 60 seconds; look at: journalctl -u containerd"
:
(umask 022; mkdir -p "$(dirname '/etc/kubernetes/policy'\''s.yaml')")
cat > '/etc/kubernetes/policy'\''s.yaml.foresail-new' <<'FORESAIL_END_OF_FILE'
a: $HOME
'quoted'
FORESAIL_END_OF_FILE
chmod 0600 '/etc/kubernetes/policy'\''s.yaml.foresail-new'
if ! cmp --silent '/etc/kubernetes/policy'\''s.yaml.foresail-new' '/etc/kubernetes/policy'\''s.yaml'; then changed=yes; fi
mv -f '/etc/kubernetes/policy'\''s.yaml.foresail-new' '/etc/kubernetes/policy'\''s.yaml'
chown 'root:root' '/etc/kubernetes/policy'\''s.yaml'
systemctl daemon-reload
systemctl enable --quiet kubelet
exit 0
