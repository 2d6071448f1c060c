# foresail: endpoint w-1
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
mkdir -p /var/log/foresail /etc/foresail /var/lib/foresail
exec 3>&2 4>&1 5<&0 </dev/null
exec 9>>/run/foresail.lock
flock -w 1200 9 || { echo "another foresail step still runs on this machine (/run/foresail.lock); try again when it has ended" >&3; exit 75; }
exec >>/var/log/foresail/endpoint.log 2>&1
echo "== $(date -u +%FT%T.%3NZ) endpoint"
log_start=$(wc -l < /var/log/foresail/endpoint.log)
scratch=/run/foresail-step; rm -rf $scratch; mkdir $scratch
trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) /var/log/foresail/endpoint.log | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) endpoint ended with $status"; exit $status' EXIT
fail() { echo "$1"; exit "${2:-1}"; }
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
exit 0
