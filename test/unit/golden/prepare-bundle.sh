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
for package in containerd conntrack socat iptables ethtool curl ca-certificates haproxy containernetworking-plugins; do
  if ! dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed; then missing="$missing $package"; fi
done
if [ -n "$missing" ]; then
  apt-get update --quiet
  apt-get install --yes --quiet --no-install-recommends -o DPkg::Lock::Timeout=300 $missing
fi
(umask 022; mkdir -p /opt/cni/bin)
for plugin in /usr/lib/cni/*; do [ -e "/opt/cni/bin/$(basename "$plugin")" ] || ln -sf "$plugin" /opt/cni/bin/; done
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
[ "$found" = 'v1.36.3' ] || fail "the bundle holds Kubernetes $found; the configuration wants v1.36.3" 65
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
pause=$(kubeadm config images list --kubernetes-version v1.36.3  2>/dev/null | grep '/pause:')
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
have=$(ctr --namespace k8s.io images list --quiet)
wanted=$(/usr/local/bin/kubeadm config images list --kubernetes-version v1.36.3 2>/dev/null)
missing=no
for image in $wanted; do grep -qxF "$image" <<<"$have" || missing=yes; done
if [ "$missing" = yes ] && compgen -G '/opt/foresail/bundle/v1.36.3'/images/'*.tar' >/dev/null; then
  for archive in '/opt/foresail/bundle/v1.36.3'/images/*.tar; do ctr --namespace k8s.io images import "$archive" >/dev/null; done
fi
(umask 022; mkdir -p "$(dirname '/etc/systemd/system/foresail-endpoint.service')")
cat > '/etc/systemd/system/foresail-endpoint.service.foresail-new' <<'FORESAIL_END_OF_FILE'
[Unit]
Description=foresail: the cluster's API servers on this node's loopback address
Wants=network-online.target
After=network-online.target
Before=kubelet.service

[Service]
ExecStart=/usr/sbin/haproxy -Ws -f /etc/foresail/haproxy.cfg -p /run/foresail-endpoint.pid
ExecReload=/bin/kill -USR2 $MAINPID
Type=notify
KillMode=mixed
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
FORESAIL_END_OF_FILE
chmod 0644 '/etc/systemd/system/foresail-endpoint.service.foresail-new'
if ! cmp --silent '/etc/systemd/system/foresail-endpoint.service.foresail-new' '/etc/systemd/system/foresail-endpoint.service'; then changed=yes; fi
mv -f '/etc/systemd/system/foresail-endpoint.service.foresail-new' '/etc/systemd/system/foresail-endpoint.service'
changed=no
(umask 022; mkdir -p "$(dirname '/etc/foresail/haproxy.cfg')")
cat > '/etc/foresail/haproxy.cfg.foresail-new' <<'FORESAIL_END_OF_FILE'
# written by foresail; changed whenever the control planes change
global
  log stderr format short daemon notice
  maxconn 4000

defaults
  mode tcp
  log global
  retries 2
  option redispatch
  option clitcpka
  option srvtcpka
  timeout connect 3s
  timeout client 24h
  timeout server 24h
  timeout check 3s

frontend kubernetes
  bind 127.0.0.1:8443
  default_backend control-planes

backend control-planes
  balance leastconn
  option httpchk GET /readyz
  http-check expect status 200
  default-server check check-ssl verify none inter 1s fall 3 rise 1 on-marked-down shutdown-sessions
  server cp-1 10.0.0.11:6443
FORESAIL_END_OF_FILE
chmod 0644 '/etc/foresail/haproxy.cfg.foresail-new'
if ! cmp --silent '/etc/foresail/haproxy.cfg.foresail-new' '/etc/foresail/haproxy.cfg'; then changed=yes; fi
mv -f '/etc/foresail/haproxy.cfg.foresail-new' '/etc/foresail/haproxy.cfg'
systemctl daemon-reload
systemctl enable --quiet foresail-endpoint
if [ "$changed" = yes ] && systemctl is-active --quiet foresail-endpoint; then systemctl reload foresail-endpoint; fi
systemctl start foresail-endpoint
mkdir -p /usr/local/lib/foresail
(umask 022; mkdir -p "$(dirname '/usr/local/lib/foresail/bridge')")
cat > '/usr/local/lib/foresail/bridge.foresail-new' <<'FORESAIL_END_OF_FILE'
#!/bin/bash
# foresail: pod network of this node
set -euo pipefail
node=$1 address=$2 pods=$3
device=""
until [ -n "$device" ]; do
  device=$(ip -oneline -4 address show | awk -v address="$address" '{split($4, cidr, "/"); if (cidr[1] == address) print $2}')
  [ -n "$device" ] || sleep 1
done
own=""
until [ -n "$own" ]; do
  own=$(kubectl --kubeconfig /etc/kubernetes/kubelet.conf get node "$node" --output 'jsonpath={.spec.podCIDR}' 2>/dev/null || true)
  [ -n "$own" ] || sleep 1
done
sysctl --quiet --write "net.ipv4.conf.$device.proxy_arp=1" "net.ipv4.neigh.$device.proxy_delay=0"
ip route replace "$pods" dev "$device" src "$address"
ip route replace unreachable "$own"
iptables --wait --table nat --check POSTROUTING --source "$own" ! --destination "$pods" --match comment --comment foresail --jump MASQUERADE 2>/dev/null \
  || iptables --wait --table nat --append POSTROUTING --source "$own" ! --destination "$pods" --match comment --comment foresail --jump MASQUERADE
mtu=$(cat "/sys/class/net/$device/mtu")
mkdir -p /etc/cni/net.d
cat > /etc/cni/net.d/.10-foresail.conflist.new <<JSON
{
  "cniVersion": "0.4.0",
  "name": "foresail",
  "plugins": [
    { "type": "ptp", "mtu": $mtu, "ipam": { "type": "host-local", "ranges": [[{ "subnet": "$own" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
JSON
mv -f /etc/cni/net.d/.10-foresail.conflist.new /etc/cni/net.d/10-foresail.conflist
FORESAIL_END_OF_FILE
chmod 0755 '/usr/local/lib/foresail/bridge.foresail-new'
if ! cmp --silent '/usr/local/lib/foresail/bridge.foresail-new' '/usr/local/lib/foresail/bridge'; then changed=yes; fi
mv -f '/usr/local/lib/foresail/bridge.foresail-new' '/usr/local/lib/foresail/bridge'
(umask 022; mkdir -p "$(dirname '/etc/systemd/system/foresail-bridge.service')")
cat > '/etc/systemd/system/foresail-bridge.service.foresail-new' <<'FORESAIL_END_OF_FILE'
[Unit]
Description=foresail: pod network of this node
After=network-online.target containerd.service

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=/usr/local/lib/foresail/bridge w-1 10.0.0.101 10.244.0.0/16
Restart=on-failure
RestartSec=2
TimeoutStartSec=infinity

[Install]
WantedBy=multi-user.target
FORESAIL_END_OF_FILE
chmod 0644 '/etc/systemd/system/foresail-bridge.service.foresail-new'
if ! cmp --silent '/etc/systemd/system/foresail-bridge.service.foresail-new' '/etc/systemd/system/foresail-bridge.service'; then changed=yes; fi
mv -f '/etc/systemd/system/foresail-bridge.service.foresail-new' '/etc/systemd/system/foresail-bridge.service'
systemctl daemon-reload
systemctl enable --quiet foresail-bridge
systemctl start --no-block 'foresail-bridge'
systemctl daemon-reload
systemctl enable --quiet kubelet
exit 0
