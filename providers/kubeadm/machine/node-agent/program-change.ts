/** The part of the agent that changes the machine. Each of its steps can be repeated after a kill. */
export const CHANGE = `
failure=""

# Runs a program, its words into the journal as they come.
run() {
  "$@" </dev/null 2>&1 | tee "$words"
  return "\${PIPESTATUS[0]}"
}

# The line that says most about a failure: what kubeadm's preflight found, else the last but for a hint that says nothing.
last_words() {
  { grep -F '[ERROR ' "$words" || grep -v 'To see the stack trace' "$words" | grep .; } | tail -n 1 | tr -cd '[:print:]' | cut -c 1-300
}

# Does a step. What an API server that has just started refuses is tried again, for two minutes.
attempt() {
  local try what=$1
  shift
  for try in $(seq 24); do
    if run "$@"; then return 0; fi
    if ! grep -qiE 'forbidden|connection refused|connection reset|handshake timeout|etcdserver: ' "$words"; then break; fi
    pause 5
  done
  failure="$what: $(last_words)"
  return 1
}

install_version() {
  local installer=$installers/$1/$2
  if [ "$mode" = dry-run ]; then
    if ! run bash "$installer" check >&2; then failure="$1 $2: $(last_words)"; return 1; fi
  fi
  if [ "$mode" != dry-run ]; then mkdir -p "$installing" && printf '%s' "$2" >"$installing/$1"; fi
  act "install $1 $2" attempt "install $1 $2" bash "$installer" install || return 1
  if [ "$mode" != dry-run ]; then rm -f "$installing/$1"; fi
}

start_anew() {
  stop_watching
  exec 9>&-
  exec "$program" "\${arguments[@]}"
}

change() {
  if is_due node-agent; then
    install_version node-agent "\${wanted[node-agent]}" || return 1
    act "start node agent \${wanted[node-agent]}" start_anew
  fi
  if is_due os-packages; then install_version os-packages "\${wanted[os-packages]}" || return 1; fi
  if is_due containerd; then install_version containerd "\${wanted[containerd]}" || return 1; fi
  if is_due kubeadm || is_due kubelet || is_due kubectl || { [ "$unfinished" = yes ] && [ -n "\${wanted[kubelet]}" ]; }; then
    change_kubernetes "\${wanted[kubelet]}" || return 1
  fi
  # the file lies in memory, so after the reboot there is nothing left to do
  if [ -n "\${wanted[os-packages]}" ] && [ -e "$reboot_required" ] && ! is_container; then act "reboot, as the new packages ask for" reboot_machine; fi
}

reboot_machine() {
  systemctl reboot
  if [ "$mode" = once ]; then exit 0; fi
  sleep infinity
}

change_kubernetes() {
  local to=$1
  if is_due kubeadm; then install_version kubeadm "$to" || return 1; fi
  # what comes from a bundle is in no registry
  if [ -f "$installers/images/$to" ]; then install_version images "$to" || return 1; fi
  upgrade_kubernetes "$to" || return 1
  if is_due kubelet; then install_version kubelet "$to" || return 1; fi
  if is_due kubectl; then install_version kubectl "$to" || return 1; fi
  act "restart the kubelet" restart_kubelet
}

# Once in the cluster: kubeadm upgrade apply. On every other node: kubeadm upgrade node.
upgrade_kubernetes() {
  local to=$1 cluster="" try
  if ! is_control_plane; then
    act "kubeadm upgrade node" attempt "kubeadm upgrade node" kubeadm upgrade node "\${kubeadm_flags[@]}"
    return
  fi
  for try in $(seq 24); do
    cluster=$(cluster_version) && [ -n "$cluster" ] && break
    if [ "$mode" = dry-run ]; then break; fi
    pause 5
  done
  if [ -z "$cluster" ] && [ "$mode" != dry-run ]; then failure="the cluster's version could not be read from kubeadm-config: $(last_words)"; return 1; fi
  # kubeadm notes the new version before its last steps, so an apply that was cut off is seen by a mark of our own
  if [ "$cluster" != "$to" ] || [ "$(cat "$folder/applying" 2>/dev/null)" = "$to" ]; then
    if [ "$mode" != dry-run ]; then printf '%s' "$to" >"$folder/applying"; fi
    act "kubeadm upgrade apply v$to" attempt "kubeadm upgrade apply v$to" kubeadm upgrade apply "v$to" --yes "\${kubeadm_flags[@]}" || return 1
    if [ "$mode" != dry-run ]; then rm -f "$folder/applying"; fi
  else
    act "kubeadm upgrade node" attempt "kubeadm upgrade node" kubeadm upgrade node "\${kubeadm_flags[@]}"
  fi
}

restart_kubelet() {
  local try
  attempt "restart the kubelet" systemctl daemon-reload || return 1
  attempt "restart the kubelet" systemctl restart kubelet || return 1
  for try in $(seq 600); do
    if kubelet_is_healthy; then return 0; fi
    pause 0.2
  done
  failure="the kubelet is not healthy two minutes after its restart; look at: journalctl -u kubelet"
  return 1
}

kubelet_is_healthy() {
  local port
  port=$(sed -n 's/^healthzPort: *//p' "$kubelet_configuration" 2>/dev/null)
  if [ "$port" = 0 ]; then systemctl is-active --quiet kubelet; return; fi
  curl --fail --silent --noproxy '*' --max-time 2 --output /dev/null "http://127.0.0.1:\${port:-10248}/healthz"
}`.trim();
