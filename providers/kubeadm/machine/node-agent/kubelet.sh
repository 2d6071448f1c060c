# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # parts of one program
# Stops the kubelet for a restart, so that its last report is of an earlier second than the start of the next one: heartbeats have
# whole seconds. A kubelet whose unit can't be started runs on.
kubelet_stopped=0
# exists while the kubelet is stopped for a restart
stopping=$folder/kubelet-stopped
stop_kubelet() {
  case $(systemctl show --property=LoadState --value kubelet) in bad-setting | error | masked | not-found) return 0 ;; esac
  touch "$stopping"
  run systemctl stop kubelet
  kubelet_stopped=$(date +%s)
  # the clock may be set back meanwhile
  for _ in $(seq 30); do
    if [ "$(date +%s)" -gt "$kubelet_stopped" ]; then break; fi
    sleep 0.1
  done
}

# Starts the kubelet when an agent was killed while it was stopped: an API server on this machine does not come back without it.
start_stopped_kubelet() {
  if [ -e "$stopping" ]; then attempt "start the kubelet" systemctl start kubelet && rm -f "$stopping"; fi
}

restart_kubelet() {
  local port
  # a reload of all units takes longer than the rest
  if [ "$(systemctl show --property=NeedDaemonReload --value kubelet)" != no ]; then
    attempt "restart the kubelet" systemctl daemon-reload || return 1
  fi
  stop_kubelet
  attempt "restart the kubelet" restart_unit kubelet || { rm -f "$stopping"; return 1; }
  rm -f "$stopping"
  kubelet_restarts=$(restarts_of_kubelet)
  port=$(sed -n 's/^healthzPort: *//p' "$ROOT/var/lib/kubelet/config.yaml" 2>/dev/null)
  for _ in $(seq 600); do
    if kubelet_is_healthy "${port:-10248}"; then return 0; fi
    if kubelet_keeps_ending; then return 1; fi
    pause 0.2
  done
  failure="the kubelet is not healthy two minutes after its restart; look at: journalctl -u kubelet"
  return 1
}

# Prints the status of the Node's condition Ready, and when the kubelet last reported it.
ready_report() {
  kubectl_as_kubelet get node "$node" --output \
    'jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status} {.lastHeartbeatTime}{end}' 2>"$output"
}

# Tells whether a report is that of the kubelet which runs now, and the Node is Ready: REPORT.
is_ready_now() {
  local heartbeat=${1#* }
  [[ $1 == "True "?* ]] && [ "$(date --date "$heartbeat" +%s 2>/dev/null || echo 0)" -gt "$kubelet_stopped" ]
}

# Tells whether the Node was Ready before the first change. A Node that was not may stay so: what changes may be only a part
# of what makes it Ready.
was_ready() { [[ $(cat "$before/ready" 2>/dev/null || ready_report || echo True) == True* ]]; }

# Waits until the kubelet that runs now has reported that the Node is Ready, if it was Ready before: the Node's condition stays
# as its former kubelet reported it until then.
await_ready_node() {
  local now=""
  if ! was_ready; then return 0; fi
  for _ in $(seq 60); do
    now=$(ready_report) || now="unknown, since the API server does not answer: $(last_line)"
    if is_ready_now "$now"; then return 0; fi
    if kubelet_keeps_ending; then return 1; fi
    pause 2
  done
  failure="the Node is still not Ready two minutes after the kubelet's restart (Ready is ${now:-not reported}); look at: journalctl -u kubelet"
  return 1
}

restart_kubelet_of_ready_node() { restart_kubelet && await_ready_node; }

# Tells whether the kubelet is healthy: PORT of its endpoint, or 0 for none.
kubelet_is_healthy() {
  if [ "$1" = 0 ]; then systemctl is-active --quiet kubelet; return; fi
  curl --fail --silent --noproxy '*' --max-time 2 --output /dev/null "http://127.0.0.1:$1/healthz"
}

# Tells whether the kubelet is configured to run on a machine with swap.
runs_with_swap() { grep -qsxE 'failSwapOn: *false *' "$ROOT/var/lib/kubelet/config.yaml"; }
