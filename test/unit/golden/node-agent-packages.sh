# foresail: node-agent w-1
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
mkdir -p /var/log/foresail /etc/foresail /var/lib/foresail
exec 3>&2 4>&1 5<&0 </dev/null
exec 9>>/run/foresail.lock
flock -w 1200 9 || { echo "another foresail step still runs on this machine (/run/foresail.lock); try again when it has ended" >&3; exit 75; }
exec >>/var/log/foresail/node-agent.log 2>&1
echo "== $(date -u +%FT%T.%3NZ) node-agent"
log_start=$(wc -l < /var/log/foresail/node-agent.log)
scratch=/run/foresail-step; rm -rf $scratch; mkdir $scratch
trap 'status=$?; rm -rf $scratch; if [ $status -ne 0 ]; then { tail -n +$((log_start + 1)) /var/log/foresail/node-agent.log | tail -n 20 >&3; } 2>/dev/null || true; fi; echo "== $(date -u +%FT%T.%3NZ) node-agent ended with $status"; exit $status' EXIT
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
[ -e /var/lib/foresail/member ] || fail 'w-1: is no member of the cluster, so there is no Node to obey'
mkdir -p /var/lib/foresail/agent/install
(umask 022; mkdir -p "$(dirname '/var/lib/foresail/agent/install/node-agent/1.1.0')")
cat > '/var/lib/foresail/agent/install/node-agent/1.1.0.foresail-new' <<'FORESAIL_END_OF_FILE_'
#!/bin/bash
# foresail: node-agent 1.1.0, for the node agent
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
fail() { printf '%s\n' "$1"; exit "${2:-1}"; }
export 'HTTP_PROXY=http://proxy.example.com:3128' 'http_proxy=http://proxy.example.com:3128'
export 'NO_PROXY=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com' 'no_proxy=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com'
case "${1:-}" in
check)
:
;;
install)
(umask 022; mkdir -p "$(dirname '/usr/local/lib/foresail/node-agent')")
cat > '/usr/local/lib/foresail/node-agent.foresail-new' <<'FORESAIL_END_OF_FILE'
#!/bin/bash
# foresail: node agent 1.1.0. Brings this machine to the versions that its Node's annotations ask for, out of what
# foresail staged here and of nothing else.
#   --once               looks once, does what is to be done, and ends
#   --dry-run [VERSION]  says what it would do, now or for that version of Kubernetes, and changes nothing
set -u -o pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
version=1.1.0
program=/usr/local/lib/foresail/node-agent
folder=/var/lib/foresail/agent
# else kubectl keeps what it knows of the API in the home of whoever runs it, or in no home at all
export KUBECACHEDIR=$folder/kubectl-cache
installers=/var/lib/foresail/agent/install
# holds the version of each software whose installer has begun and not come to its end
installing=/var/lib/foresail/agent/installing
initialized=/var/lib/foresail/agent/initialized
machine_lock=/run/foresail.lock
agent_lock=/run/foresail-node-agent.lock
kubernetes=/etc/kubernetes
reboot_required=/run/reboot-required
kubelet_configuration=/var/lib/kubelet/config.yaml
kubelet_flags=/var/lib/kubelet/kubeadm-flags.env
sysctl_file=/etc/sysctl.d/90-foresail.conf
words=/run/foresail-node-agent.words
. /etc/foresail/node-agent.conf
mode=serve
say() { printf '%s\n' "$*"; }

# Does a step and says so. A dry run only says it.
act() {
  if [ "$mode" = dry-run ]; then say "would $1"; return 0; fi
  say "$1"
  shift
  "$@"
}

kubectl_as_kubelet() { kubectl --kubeconfig "$kubernetes/kubelet.conf" --request-timeout=20s "$@"; }

# Right after an API server has started, RBAC answers Forbidden to everybody: whatever goes wrong here is "not yet".
not_yet=""
wait_for_api() {
  local why
  why=$(tail -n 1 "$words" 2>/dev/null || true)
  if [ "$why" != "$not_yet" ]; then say "the API server does not answer yet: $why" >&2; fi
  not_yet=$why
}

# Reads the annotations of this Node. Values come quoted, so that none can pretend to be a line of its own.
declare -A annotation
read_node() {
  local lines key value
  lines=$(kubectl_as_kubelet get node "$node" --output \
    'go-template={{range $key, $value := .metadata.annotations}}{{$key}} {{printf "%q" $value}}{{"\n"}}{{end}}' 2>"$words") || { wait_for_api; return 1; }
  not_yet=""
  annotation=()
  while read -r key value; do
    if [[ $value == '"'*'"' ]]; then annotation[$key]=${value:1:-1}; fi
  done <<<"$lines"
}

# What is to be written to the Node; only what differs.
changes=()
note() { if [ "${annotation[$1]-}" != "$2" ]; then changes+=("$1=$2"); fi; }
forget() { if [ -n "${annotation[$1]+there}" ]; then changes+=("$1-"); fi; }

# Writes what was noted, all in one write, and tries for two minutes.
publish() {
  local attempt one
  if [ ${#changes[@]} -eq 0 ]; then return 0; fi
  if [ "$mode" = dry-run ]; then say "would write ${changes[*]}"; changes=(); return 0; fi
  for attempt in $(seq 60); do
    if kubectl_as_kubelet annotate node "$node" --overwrite --field-manager=foresail-node-agent "${changes[@]}" >/dev/null 2>"$words"; then
      for one in "${changes[@]}"; do if [[ $one == *=* ]]; then annotation[${one%%=*}]=${one#*=}; else unset "annotation[${one%-}]"; fi; done
      not_yet="" changes=()
      return 0
    fi
    wait_for_api
    pause 2
  done
  say "the annotations could not be written within two minutes: $(tail -n 1 "$words")"
  return 1
}

pause() { if [ "$retry_seconds" != 0 ]; then sleep "$1"; fi; }

# Sleeps until the Node changes, but no longer than the given seconds.
watching=""
wait_for_change() {
  if [ -z "$watching" ]; then
    exec 7< <(exec kubectl --kubeconfig "$kubernetes/kubelet.conf" get nodes --field-selector "metadata.name=$node" --watch \
      --output 'go-template={{.metadata.resourceVersion}}{{"\n"}}' 2>/dev/null 8>&- 9>&-)
    watching=$!
  fi
  if read -r -t "$1" -u 7; then
    while read -r -t 0.1 -u 7; do :; done
  elif [ $? -le 128 ]; then
    # the watch has ended, as watches do
    stop_watching
    pause 2
  fi
}
stop_watching() {
  if [ -z "$watching" ]; then return 0; fi
  kill "$watching" 2>/dev/null || true
  exec 7<&-
  watching=""
}
is_container() { systemd-detect-virt --container --quiet; }
is_control_plane() { [ -e "$kubernetes/manifests/kube-apiserver.yaml" ]; }

# The version of one software on this machine, nothing when it has none.
found() {
  case $1 in
  kubeadm) kubeadm version --output=short 2>/dev/null | sed -n 's/^v//p' ;;
  kubelet) kubelet --version 2>/dev/null | sed -n 's/^Kubernetes v//p' ;;
  kubectl) kubectl version --client 2>/dev/null | sed -n 's/^Client Version: v//p' ;;
  containerd) dpkg-query --show --showformat='${Version}' containerd 2>/dev/null ;;
  os-packages) cat "$folder/os-packages" 2>/dev/null ;;
  node-agent) printf '%s' "$version" ;;
  esac || true
}

# Whether an installer that was cut off has brought this version: what it does after that is still to be done.
is_half_installed() { [ -e "$installing/$1" ] && [ "$(<"$installing/$1")" = "$2" ]; }

# Whether a kubelet that starts anew takes the Node's name: by the host's name, or by the flag that kubeadm wrote at the join.
keeps_its_name() {
  [ "$(hostname | tr '[:upper:]' '[:lower:]')" = "$node" ] || grep -qsE -- '--hostname-override='"$node"'("|[[:space:]]|$)' "$kubelet_flags" /etc/default/kubelet
}

# As an annotation has it: Kubernetes' own programs with a leading v.
as_annotation() { case $1 in kube*) printf 'v%s' "$2" ;; *) printf '%s' "$2" ;; esac; }

# Compares what the annotations ask for, or the version of a dry run, with what is here.
declare -A wanted have
due=() wish=""
asked=annotations
compare() {
  local one
  due=() wish="${annotation[$key_allowed]-}"
  for one in "${software[@]}"; do
    if [ "$asked" = annotations ]; then wanted[$one]=${annotation[${key_desired[$one]}]-}; else wanted[$one]=$([[ $one != kube* ]] || say "$asked"); fi
    wanted[$one]=${wanted[$one]#v}
    wish+=" $one ${wanted[$one]}"
    have[$one]=$(found "$one")
    if [ -n "${wanted[$one]}" ] && { [ "${wanted[$one]}" != "${have[$one]}" ] || is_half_installed "$one" "${wanted[$one]}"; }; then due+=("$one"); fi
  done
}
is_due() { [[ " ${due[*]-} " == *" $1 "* ]]; }

# As compare has found it: asking the programs again would take a second of a small machine's time.
note_found() {
  local one
  note "$key_revision" "$revision"
  for one in "${software[@]}"; do
    if [ -n "${have[$one]}" ]; then note "${key_current[$one]}" "$(as_annotation "$one" "${have[$one]}")"; fi
  done
}

minor_of() { cut -d . -f 2 <<<"$1"; }

# The version of the whole cluster, as kubeadm keeps it. Every node may read it.
cluster_version() {
  local credentials=$kubernetes/kubelet.conf text
  if is_control_plane; then credentials=$kubernetes/admin.conf; fi
  text=$(kubectl --kubeconfig "$credentials" --request-timeout=20s --namespace kube-system get configmap kubeadm-config \
    --output 'jsonpath={.data.ClusterConfiguration}' 2>"$words") || { wait_for_api; return 1; }
  sed -n 's/^kubernetesVersion: v//p' <<<"$text"
}

# Says why the wish can't be obeyed, or nothing.
refuse() {
  local one to from cluster
  for one in "${due[@]}"; do
    to=${wanted[$one]}
    if ! [[ $to =~ ^[0-9A-Za-z][0-9A-Za-z.+:~-]*$ ]]; then say "$one: \"${to:0:60}\" is not a version"; return 0; fi
    if [ ! -f "$installers/$one/$to" ]; then
      say "$one $to is not staged on this machine, which has: $(ls "$installers/$one" 2>/dev/null | xargs); a node takes only what foresail has put there"
      return 0
    fi
  done
  if ! keeps_its_name; then
    say "this machine calls itself $(hostname) and its kubelet was given no other name, so it would come back as another Node than $node; run there: hostnamectl set-hostname $node"
    return 0
  fi
  to=${wanted[kubelet]} from=${have[kubelet]}
  if [ "$to" != "${wanted[kubeadm]}" ] || [ "$to" != "${wanted[kubectl]}" ]; then
    say "kubelet, kubeadm and kubectl have to go to the same version, but are asked for ${to:-none}, ${wanted[kubeadm]:-none} and ${wanted[kubectl]:-none}"
    return 0
  fi
  if [ -z "$to" ] || [ -z "$from" ] || [ "$asked" != annotations ]; then return 0; fi
  if [ "$(minor_of "$to")" -lt "$(minor_of "$from")" ]; then say "a kubelet never goes back a minor version, from $from to $to"; return 0; fi
  if [ "$(minor_of "$to")" -gt "$(($(minor_of "$from") + 1))" ]; then say "one minor version at a time: $to is more than one above $from"; return 0; fi
  if is_control_plane; then return 0; fi
  cluster=$(cluster_version)
  if [ -z "$cluster" ]; then say "the cluster's version could not be read from kubeadm-config: $(tail -n 1 "$words")"; return 0; fi
  if [ "$(minor_of "$to")" -gt "$(minor_of "$cluster")" ]; then say "the control plane is at $cluster; a kubelet is never newer"; fi
}
failure=""

# Runs a program, its words into the journal as they come.
run() {
  "$@" </dev/null 2>&1 | tee "$words"
  return "${PIPESTATUS[0]}"
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
  exec "$program" "${arguments[@]}"
}

change() {
  if is_due node-agent; then
    install_version node-agent "${wanted[node-agent]}" || return 1
    act "start node agent ${wanted[node-agent]}" start_anew
  fi
  if is_due os-packages; then install_version os-packages "${wanted[os-packages]}" || return 1; fi
  if is_due containerd; then install_version containerd "${wanted[containerd]}" || return 1; fi
  if is_due kubeadm || is_due kubelet || is_due kubectl || { [ "$unfinished" = yes ] && [ -n "${wanted[kubelet]}" ]; }; then
    change_kubernetes "${wanted[kubelet]}" || return 1
  fi
  # the file lies in memory, so after the reboot there is nothing left to do
  if [ -n "${wanted[os-packages]}" ] && [ -e "$reboot_required" ] && ! is_container; then act "reboot, as the new packages ask for" reboot_machine; fi
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
    act "kubeadm upgrade node" attempt "kubeadm upgrade node" kubeadm upgrade node "${kubeadm_flags[@]}"
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
    act "kubeadm upgrade apply v$to" attempt "kubeadm upgrade apply v$to" kubeadm upgrade apply "v$to" --yes "${kubeadm_flags[@]}" || return 1
    if [ "$mode" != dry-run ]; then rm -f "$folder/applying"; fi
  else
    act "kubeadm upgrade node" attempt "kubeadm upgrade node" kubeadm upgrade node "${kubeadm_flags[@]}"
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
  curl --fail --silent --noproxy '*' --max-time 2 --output /dev/null "http://127.0.0.1:${port:-10248}/healthz"
}
unfinished=no
failures=0 failed_wish="" not_before=0

# The machine is as a node needs it: kernel settings, no swap, containerd, Kubernetes' programs. The mark is read over SSH.
initialise() {
  local one
  if [ -e "$initialized" ] && [ "${is_initialised-}" = yes ]; then return 0; fi
  rm -f "$initialized"
  if [ -e "$sysctl_file" ]; then sysctl --quiet --ignore --load="$sysctl_file"; fi
  # inside a container the swap is the host's
  if ! is_container && [ -n "$(swapon --noheadings --show 2>/dev/null)" ]; then say "turn swap off"; swapoff -a; fi
  if ! systemctl is-active --quiet containerd; then
    attempt "start containerd" systemctl start containerd || return 1
  fi
  for one in kubeadm kubelet kubectl; do
    if [ -z "$(found "$one")" ]; then failure="$one is not on this machine"; return 1; fi
  done
  # a machine that was joined under another name keeps its own: the kubelet was told the Node's
  if [ "$(hostname)" != "$node" ]; then say "this machine calls itself $(hostname); its Node is $node"; fi
  printf '%s\n' "$version" >"$initialized"
  is_initialised=yes
}

fail() {
  local pause_seconds
  say "failed: $1"
  failures=$((failures + 1)) failed_wish=$wish
  pause_seconds=$((retry_seconds * (1 << (failures < 7 ? failures - 1 : 6))))
  not_before=$((SECONDS + (pause_seconds > 300 ? 300 : pause_seconds)))
  compare
  changes=()
  note_found
  note "$key_message" "$1"
  publish
}

is_pending() { [ ${#due[@]} -gt 0 ] || [ "$unfinished" = yes ]; }
is_allowed() { [ "${annotation[$key_allowed]-}" = true ]; }

look() {
  read_node || return 1
  compare
  unfinished=no
  if [ "${annotation[$key_ready]-}" = false ]; then unfinished=yes; fi
}

# One look. Ends with 0 when all is done that may be done, 1 after a failure, 75 when the API does not answer yet.
round() {
  local refusal is_fit=yes
  initialise || is_fit=no
  look || return 75
  if [ "$wish" = "$failed_wish" ] && [ "$SECONDS" -lt "$not_before" ]; then return 1; fi
  if [ "$is_fit" = no ]; then fail "$failure"; return 1; fi
  changes=()
  note_found
  if ! is_pending; then
    finish
    return
  fi
  if ! is_allowed; then
    # whoever has never spoken says that nothing is under way
    if [ -z "${annotation[$key_ready]-}" ]; then note "$key_ready" true; fi
    publish
    return
  fi
  # nothing else changes the machine meanwhile
  exec 9>>"$machine_lock"
  if ! flock --nonblock 9; then
    say "another step of foresail runs on this machine; waiting for its end"
    flock 9 || return 1
    # what was found before the wait may be out of date
    look || return 75
    if ! is_pending || ! is_allowed; then return 0; fi
  fi
  refusal=$(refuse)
  if [ -n "$refusal" ]; then fail "$refusal"; return 1; fi
  changes=()
  note_found
  note "$key_ready" false
  publish || return 1
  if ! change; then fail "$failure"; return 1; fi
  compare
  if [ ${#due[@]} -gt 0 ]; then fail "installed, but ${due[0]} is still ${have[${due[0]}]:-missing} and not ${wanted[${due[0]}]}"; return 1; fi
  changes=()
  note_found
  finish
}

finish() {
  note "$key_ready" true
  forget "$key_message"
  publish || return 1
  failures=0 failed_wish=""
}

# Says what a round would do now, or for another version of Kubernetes, and whether its source has it.
dry_run() {
  local refusal
  if [ "$asked" = annotations ]; then look || return 75; else compare; fi
  if ! is_pending; then say "nothing to do"; return 0; fi
  if [ "$asked" = annotations ] && ! is_allowed; then say "nothing happens unless $key_allowed is \"true\"; then:"; fi
  refusal=$(refuse)
  if [ -n "$refusal" ]; then say "would refuse: $refusal"; return 65; fi
  changes=("$key_ready=false")
  publish
  if ! change; then say "would fail: $failure"; return 66; fi
  changes=("$key_ready=true")
  publish
}

patience() {
  if [ "$failures" = 0 ]; then echo 300; return; fi
  echo $((not_before > SECONDS ? not_before - SECONDS : 1))
}

main() {
  local status
  arguments=("$@")
  case ${1-} in
  "") ;;
  --once) mode=once ;;
  --dry-run) mode=dry-run asked=${2:-annotations} ;;
  *) say "usage: node-agent [--once | --dry-run [VERSION]]"; exit 64 ;;
  esac
  if [ "$mode" = dry-run ]; then
    words=$(mktemp)
    trap 'rm -f "$words"' EXIT
    dry_run
    exit
  fi
  mkdir -p "$folder"
  exec 8>>"$agent_lock"
  if ! flock --nonblock 8; then say "another node agent runs on this machine; waiting for its end"; flock 8 || exit 1; fi
  trap stop_watching EXIT
  say "node agent $version of $node"
  while :; do
    round
    status=$?
    exec 9>&-
    if [ "$mode" = once ]; then exit "$status"; fi
    if [ "$status" = 75 ]; then pause 2; else wait_for_change "$(patience)"; fi
  done
}
main "$@"; exit
FORESAIL_END_OF_FILE
chmod 0755 '/usr/local/lib/foresail/node-agent.foresail-new'
if ! cmp --silent '/usr/local/lib/foresail/node-agent.foresail-new' '/usr/local/lib/foresail/node-agent'; then changed=yes; fi
mv -f '/usr/local/lib/foresail/node-agent.foresail-new' '/usr/local/lib/foresail/node-agent'
(umask 022; mkdir -p "$(dirname '/etc/systemd/system/foresail-node-agent.service')")
cat > '/etc/systemd/system/foresail-node-agent.service.foresail-new' <<'FORESAIL_END_OF_FILE'
[Unit]
Description=foresail: node agent, brings this machine to the versions that its Node's annotations ask for
Wants=network-online.target
After=network-online.target containerd.service
StartLimitIntervalSec=0

[Service]
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=/usr/local/lib/foresail/node-agent
Restart=always
RestartSec=2
KillMode=control-group

[Install]
WantedBy=multi-user.target
FORESAIL_END_OF_FILE
chmod 0644 '/etc/systemd/system/foresail-node-agent.service.foresail-new'
if ! cmp --silent '/etc/systemd/system/foresail-node-agent.service.foresail-new' '/etc/systemd/system/foresail-node-agent.service'; then changed=yes; fi
mv -f '/etc/systemd/system/foresail-node-agent.service.foresail-new' '/etc/systemd/system/foresail-node-agent.service'
systemctl daemon-reload
;;
*) fail "usage: $0 check|install" 64 ;;
esac
FORESAIL_END_OF_FILE_
chmod 0700 '/var/lib/foresail/agent/install/node-agent/1.1.0.foresail-new'
if ! cmp --silent '/var/lib/foresail/agent/install/node-agent/1.1.0.foresail-new' '/var/lib/foresail/agent/install/node-agent/1.1.0'; then changed=yes; fi
mv -f '/var/lib/foresail/agent/install/node-agent/1.1.0.foresail-new' '/var/lib/foresail/agent/install/node-agent/1.1.0'
(umask 022; mkdir -p "$(dirname '/var/lib/foresail/agent/install/kubelet/1.36.3')")
cat > '/var/lib/foresail/agent/install/kubelet/1.36.3.foresail-new' <<'FORESAIL_END_OF_FILE_'
#!/bin/bash
# foresail: kubelet 1.36.3, for the node agent
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
fail() { printf '%s\n' "$1"; exit "${2:-1}"; }
export 'HTTP_PROXY=http://proxy.example.com:3128' 'http_proxy=http://proxy.example.com:3128'
export 'NO_PROXY=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com' 'no_proxy=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com'
case "${1:-}" in
check)
lists=$(mktemp -d); trap 'rm -rf "$lists"' EXIT; chmod 0755 "$lists"
(umask 022; curl --fail --silent --show-error --location --retry 3 --max-time 60 'https://packages.example.com/v1.36/deb/Release.key' --output "$lists/key.asc") \
  || fail 'the key of the Kubernetes repository could not be read from https://packages.example.com/v1.36/deb/Release.key; check cluster.source.packages.repository, and that this machine reaches it' 66
echo "deb [signed-by=$lists/key.asc] "'https://packages.example.com/v1.36/deb/ /' > "$lists/kubernetes.list"
only="-o Dir::Etc::sourcelist=$lists/kubernetes.list -o Dir::Etc::sourceparts=- -o Dir::State::Lists=$lists/state -o Dir::Cache=$lists/cache"
(umask 022; apt-get update --quiet $only -o APT::Update::Error-Mode=any) \
  || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ could not be read, or its signature is not of the key in its Release.key' 65
for package in kubeadm kubelet kubectl; do
  apt-cache $only madison "$package" | cut -d '|' -f 2 | grep -qE '^ *1\.36\.3-' || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ has no '"$package 1.36.3" 65
done
;;
install)
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' kubelet 2>/dev/null | grep -cE '^installed 1\.36\.3-' || true)
if [ "$installed" != 1 ]; then
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
  for package in kubelet; do
    apt-cache madison "$package" | cut -d '|' -f 2 | grep -E '^ *1\.36\.3-' \
      || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ has no '"$package 1.36.3; it has: $(apt-cache madison "$package" | cut -d '|' -f 2 | tr -d ' ' | head -n 10 | xargs)" 65
  done
  dpkg --configure -a
  apt-mark unhold kubelet || true
  apt-get install --yes --quiet --no-install-recommends --allow-downgrades -o DPkg::Lock::Timeout=300 'kubelet=1.36.3-*'
  apt-mark hold kubelet
fi
;;
*) fail "usage: $0 check|install" 64 ;;
esac
FORESAIL_END_OF_FILE_
chmod 0700 '/var/lib/foresail/agent/install/kubelet/1.36.3.foresail-new'
if ! cmp --silent '/var/lib/foresail/agent/install/kubelet/1.36.3.foresail-new' '/var/lib/foresail/agent/install/kubelet/1.36.3'; then changed=yes; fi
mv -f '/var/lib/foresail/agent/install/kubelet/1.36.3.foresail-new' '/var/lib/foresail/agent/install/kubelet/1.36.3'
(umask 022; mkdir -p "$(dirname '/var/lib/foresail/agent/install/kubeadm/1.36.3')")
cat > '/var/lib/foresail/agent/install/kubeadm/1.36.3.foresail-new' <<'FORESAIL_END_OF_FILE_'
#!/bin/bash
# foresail: kubeadm 1.36.3, for the node agent
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
fail() { printf '%s\n' "$1"; exit "${2:-1}"; }
export 'HTTP_PROXY=http://proxy.example.com:3128' 'http_proxy=http://proxy.example.com:3128'
export 'NO_PROXY=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com' 'no_proxy=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com'
case "${1:-}" in
check)
lists=$(mktemp -d); trap 'rm -rf "$lists"' EXIT; chmod 0755 "$lists"
(umask 022; curl --fail --silent --show-error --location --retry 3 --max-time 60 'https://packages.example.com/v1.36/deb/Release.key' --output "$lists/key.asc") \
  || fail 'the key of the Kubernetes repository could not be read from https://packages.example.com/v1.36/deb/Release.key; check cluster.source.packages.repository, and that this machine reaches it' 66
echo "deb [signed-by=$lists/key.asc] "'https://packages.example.com/v1.36/deb/ /' > "$lists/kubernetes.list"
only="-o Dir::Etc::sourcelist=$lists/kubernetes.list -o Dir::Etc::sourceparts=- -o Dir::State::Lists=$lists/state -o Dir::Cache=$lists/cache"
(umask 022; apt-get update --quiet $only -o APT::Update::Error-Mode=any) \
  || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ could not be read, or its signature is not of the key in its Release.key' 65
for package in kubeadm kubelet kubectl; do
  apt-cache $only madison "$package" | cut -d '|' -f 2 | grep -qE '^ *1\.36\.3-' || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ has no '"$package 1.36.3" 65
done
;;
install)
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' kubeadm 2>/dev/null | grep -cE '^installed 1\.36\.3-' || true)
if [ "$installed" != 1 ]; then
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
  for package in kubeadm; do
    apt-cache madison "$package" | cut -d '|' -f 2 | grep -E '^ *1\.36\.3-' \
      || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ has no '"$package 1.36.3; it has: $(apt-cache madison "$package" | cut -d '|' -f 2 | tr -d ' ' | head -n 10 | xargs)" 65
  done
  dpkg --configure -a
  apt-mark unhold kubeadm || true
  apt-get install --yes --quiet --no-install-recommends --allow-downgrades -o DPkg::Lock::Timeout=300 'kubeadm=1.36.3-*'
  apt-mark hold kubeadm
fi
;;
*) fail "usage: $0 check|install" 64 ;;
esac
FORESAIL_END_OF_FILE_
chmod 0700 '/var/lib/foresail/agent/install/kubeadm/1.36.3.foresail-new'
if ! cmp --silent '/var/lib/foresail/agent/install/kubeadm/1.36.3.foresail-new' '/var/lib/foresail/agent/install/kubeadm/1.36.3'; then changed=yes; fi
mv -f '/var/lib/foresail/agent/install/kubeadm/1.36.3.foresail-new' '/var/lib/foresail/agent/install/kubeadm/1.36.3'
(umask 022; mkdir -p "$(dirname '/var/lib/foresail/agent/install/kubectl/1.36.3')")
cat > '/var/lib/foresail/agent/install/kubectl/1.36.3.foresail-new' <<'FORESAIL_END_OF_FILE_'
#!/bin/bash
# foresail: kubectl 1.36.3, for the node agent
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
fail() { printf '%s\n' "$1"; exit "${2:-1}"; }
export 'HTTP_PROXY=http://proxy.example.com:3128' 'http_proxy=http://proxy.example.com:3128'
export 'NO_PROXY=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com' 'no_proxy=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com'
case "${1:-}" in
check)
lists=$(mktemp -d); trap 'rm -rf "$lists"' EXIT; chmod 0755 "$lists"
(umask 022; curl --fail --silent --show-error --location --retry 3 --max-time 60 'https://packages.example.com/v1.36/deb/Release.key' --output "$lists/key.asc") \
  || fail 'the key of the Kubernetes repository could not be read from https://packages.example.com/v1.36/deb/Release.key; check cluster.source.packages.repository, and that this machine reaches it' 66
echo "deb [signed-by=$lists/key.asc] "'https://packages.example.com/v1.36/deb/ /' > "$lists/kubernetes.list"
only="-o Dir::Etc::sourcelist=$lists/kubernetes.list -o Dir::Etc::sourceparts=- -o Dir::State::Lists=$lists/state -o Dir::Cache=$lists/cache"
(umask 022; apt-get update --quiet $only -o APT::Update::Error-Mode=any) \
  || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ could not be read, or its signature is not of the key in its Release.key' 65
for package in kubeadm kubelet kubectl; do
  apt-cache $only madison "$package" | cut -d '|' -f 2 | grep -qE '^ *1\.36\.3-' || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ has no '"$package 1.36.3" 65
done
;;
install)
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' kubectl 2>/dev/null | grep -cE '^installed 1\.36\.3-' || true)
if [ "$installed" != 1 ]; then
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
  for package in kubectl; do
    apt-cache madison "$package" | cut -d '|' -f 2 | grep -E '^ *1\.36\.3-' \
      || fail 'the Kubernetes repository https://packages.example.com/v1.36/deb/ has no '"$package 1.36.3; it has: $(apt-cache madison "$package" | cut -d '|' -f 2 | tr -d ' ' | head -n 10 | xargs)" 65
  done
  dpkg --configure -a
  apt-mark unhold kubectl || true
  apt-get install --yes --quiet --no-install-recommends --allow-downgrades -o DPkg::Lock::Timeout=300 'kubectl=1.36.3-*'
  apt-mark hold kubectl
fi
;;
*) fail "usage: $0 check|install" 64 ;;
esac
FORESAIL_END_OF_FILE_
chmod 0700 '/var/lib/foresail/agent/install/kubectl/1.36.3.foresail-new'
if ! cmp --silent '/var/lib/foresail/agent/install/kubectl/1.36.3.foresail-new' '/var/lib/foresail/agent/install/kubectl/1.36.3'; then changed=yes; fi
mv -f '/var/lib/foresail/agent/install/kubectl/1.36.3.foresail-new' '/var/lib/foresail/agent/install/kubectl/1.36.3'
(umask 022; mkdir -p "$(dirname '/var/lib/foresail/agent/install/containerd/1.6.20~ds1-1+deb12u1')")
cat > '/var/lib/foresail/agent/install/containerd/1.6.20~ds1-1+deb12u1.foresail-new' <<'FORESAIL_END_OF_FILE'
#!/bin/bash
# foresail: containerd 1.6.20~ds1-1+deb12u1, for the node agent
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
fail() { printf '%s\n' "$1"; exit "${2:-1}"; }
export 'HTTP_PROXY=http://proxy.example.com:3128' 'http_proxy=http://proxy.example.com:3128'
export 'NO_PROXY=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com' 'no_proxy=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com'
case "${1:-}" in
check)
apt-cache madison containerd | cut -d '|' -f 2 | tr -d ' ' | grep -qxF '1.6.20~ds1-1+deb12u1' || fail 'no apt repository of this machine has containerd 1.6.20~ds1-1+deb12u1' 65
;;
install)
if [ "$(dpkg-query --show --showformat='${Version}' containerd 2>/dev/null || true)" != '1.6.20~ds1-1+deb12u1' ]; then
  dpkg --configure -a
  apt-get update --quiet
  apt-cache madison containerd | cut -d '|' -f 2 | tr -d ' ' | grep -qxF '1.6.20~ds1-1+deb12u1' || fail 'no apt repository of this machine has containerd ''1.6.20~ds1-1+deb12u1; it has: '"$(apt-cache madison containerd | cut -d '|' -f 2 | xargs)" 65
  apt-mark unhold containerd || true
  apt-get install --yes --quiet --no-install-recommends --allow-downgrades -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold 'containerd=1.6.20~ds1-1+deb12u1'
fi
apt-mark hold containerd
systemctl restart containerd
timeout 60 bash -c 'until ctr version >/dev/null 2>&1; do sleep 0.2; done' || fail "containerd did not answer within 60 seconds; look at: journalctl -u containerd"
;;
*) fail "usage: $0 check|install" 64 ;;
esac
FORESAIL_END_OF_FILE
chmod 0700 '/var/lib/foresail/agent/install/containerd/1.6.20~ds1-1+deb12u1.foresail-new'
if ! cmp --silent '/var/lib/foresail/agent/install/containerd/1.6.20~ds1-1+deb12u1.foresail-new' '/var/lib/foresail/agent/install/containerd/1.6.20~ds1-1+deb12u1'; then changed=yes; fi
mv -f '/var/lib/foresail/agent/install/containerd/1.6.20~ds1-1+deb12u1.foresail-new' '/var/lib/foresail/agent/install/containerd/1.6.20~ds1-1+deb12u1'
(umask 022; mkdir -p "$(dirname '/var/lib/foresail/agent/install/os-packages/2026-11-01')")
cat > '/var/lib/foresail/agent/install/os-packages/2026-11-01.foresail-new' <<'FORESAIL_END_OF_FILE'
#!/bin/bash
# foresail: os-packages 2026-11-01, for the node agent
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
fail() { printf '%s\n' "$1"; exit "${2:-1}"; }
export 'HTTP_PROXY=http://proxy.example.com:3128' 'http_proxy=http://proxy.example.com:3128'
export 'NO_PROXY=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com' 'no_proxy=127.0.0.1,localhost,10.244.0.0/16,10.96.0.0/12,.cluster.local,.svc,api.example.com,.example.com'
case "${1:-}" in
check)
:
;;
install)
dpkg --configure -a
apt-get update --quiet
apt-get upgrade --yes --quiet --with-new-pkgs -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold
printf '%s' '2026-11-01' > /var/lib/foresail/agent/os-packages
;;
*) fail "usage: $0 check|install" 64 ;;
esac
FORESAIL_END_OF_FILE
chmod 0700 '/var/lib/foresail/agent/install/os-packages/2026-11-01.foresail-new'
if ! cmp --silent '/var/lib/foresail/agent/install/os-packages/2026-11-01.foresail-new' '/var/lib/foresail/agent/install/os-packages/2026-11-01'; then changed=yes; fi
mv -f '/var/lib/foresail/agent/install/os-packages/2026-11-01.foresail-new' '/var/lib/foresail/agent/install/os-packages/2026-11-01'
while read -r path; do
  case "$path" in
  '/var/lib/foresail/agent/install/node-agent/1.1.0'|'/var/lib/foresail/agent/install/kubelet/1.36.3'|'/var/lib/foresail/agent/install/kubeadm/1.36.3'|'/var/lib/foresail/agent/install/kubectl/1.36.3'|'/var/lib/foresail/agent/install/containerd/1.6.20~ds1-1+deb12u1'|'/var/lib/foresail/agent/install/os-packages/2026-11-01') ;;
  *) rm -f "$path" ;;
  esac
done < <(find /var/lib/foresail/agent/install -type f)
(umask 022; mkdir -p "$(dirname '/etc/foresail/node-agent.conf')")
cat > '/etc/foresail/node-agent.conf.foresail-new' <<'FORESAIL_END_OF_FILE'
# written by foresail
node='w-1'
software=(node-agent os-packages containerd kubeadm kubelet kubectl)
key_allowed='alpha.node.caos.ch/changes-allowed'
key_ready='alpha.node.caos.ch/ready'
key_message='alpha.node.caos.ch/message'
key_revision='alpha.node-agent.caos.ch/revision'
revision='87d5f81e1f64'
declare -A key_desired=([node-agent]='alpha.node-agent.caos.ch/desired-version' [os-packages]='alpha.os-packages.caos.ch/desired-version' [containerd]='alpha.containerd.caos.ch/desired-version' [kubeadm]='alpha.kubeadm.caos.ch/desired-version' [kubelet]='alpha.kubelet.caos.ch/desired-version' [kubectl]='alpha.kubectl.caos.ch/desired-version')
declare -A key_current=([node-agent]='alpha.node-agent.caos.ch/current-version' [os-packages]='alpha.os-packages.caos.ch/current-version' [containerd]='alpha.containerd.caos.ch/current-version' [kubeadm]='alpha.kubeadm.caos.ch/current-version' [kubelet]='alpha.kubelet.caos.ch/current-version' [kubectl]='alpha.kubectl.caos.ch/current-version')
kubeadm_flags=()
retry_seconds=5
FORESAIL_END_OF_FILE
chmod 0600 '/etc/foresail/node-agent.conf.foresail-new'
if ! cmp --silent '/etc/foresail/node-agent.conf.foresail-new' '/etc/foresail/node-agent.conf'; then changed=yes; fi
mv -f '/etc/foresail/node-agent.conf.foresail-new' '/etc/foresail/node-agent.conf'
bash /var/lib/foresail/agent/install/node-agent/1.1.0 install
if [ "$(kubelet --version 2>/dev/null || true)" != 'Kubernetes v1.36.3' ]; then
  /usr/local/lib/foresail/node-agent --dry-run 1.36.3 || fail 'Kubernetes 1.36.3 can'\''t be staged; the lines before this one say why' 65
fi
systemctl enable --quiet foresail-node-agent
systemctl restart foresail-node-agent
exit 0
