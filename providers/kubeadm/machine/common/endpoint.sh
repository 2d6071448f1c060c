# shellcheck shell=bash
# The loopback endpoint: haproxy forwards 127.0.0.1 to every control plane; only ready ones get connections.
# Every node checks every control plane, so a ready one is checked only every 10 s. A connection that fails goes to
# another control plane at once, and makes the checks of that one frequent until it is ready or down.
# An API server that refuses the check (401 without anonymous access, 403) answers, and counts as ready. When no control
# plane passes the checks, connections go to all of them: a check that is wrong never cuts a node off.
# Parameters: PORT, BACKENDS (a list of "name address:port")

# Configures haproxy, which is reloaded only when the text differs.
configure_endpoint() {
  local changed
  write_file /etc/systemd/system/foresail-endpoint.service 0644 <<UNIT
[Unit]
Description=foresail: the cluster's API servers on this node's loopback address
Wants=network-online.target
After=network-online.target
Before=kubelet.service

[Service]
ExecStart=/usr/sbin/haproxy -Ws -f $HAPROXY_PATH -p /run/foresail-endpoint.pid
ExecReload=/bin/kill -USR2 \$MAINPID
Type=notify
KillMode=mixed
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
UNIT
  changed=no
  write_file "$HAPROXY_PATH" 0644 <<HAPROXY
# written by foresail; changed whenever the control planes change
global
  log stderr format short daemon notice
  maxconn 4000
  spread-checks 20

defaults
  mode tcp
  log global
  retries 2
  option redispatch 1
  option clitcpka
  option srvtcpka
  timeout connect 3s
  timeout client 24h
  timeout server 24h
  timeout check 3s

frontend kubernetes
  bind 127.0.0.1:$PORT
  use_backend unchecked-control-planes if { nbsrv(control-planes) lt 1 }
  default_backend control-planes

backend control-planes
  balance leastconn
  option httpchk GET /readyz
  http-check expect rstatus ^(200|401|403)$
  default-server check check-ssl verify none inter 10s fastinter 1s downinter 3s fall 3 rise 1 observe layer4 error-limit 1 on-error fastinter on-marked-down shutdown-sessions
$(printf '%s\n' "${BACKENDS[@]/#/  server }")

backend unchecked-control-planes
  balance roundrobin
$(printf '%s\n' "${BACKENDS[@]/#/  server }")
HAPROXY
  systemctl daemon-reload
  systemctl enable --quiet foresail-endpoint
  if [ "$changed" = yes ] && systemctl is-active --quiet foresail-endpoint; then systemctl reload foresail-endpoint; fi
  systemctl start foresail-endpoint
}
