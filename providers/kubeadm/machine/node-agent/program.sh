# shellcheck shell=bash
# The node agent brings this machine to the versions that its Node's annotations ask for, out of what foresail staged here
# and of nothing else. It follows the annotations of its own Node, with the kubelet's credentials. It writes ready=false
# before its first change and ready=true after its last, and everything between can be repeated. A file of root records
# the same, so after a kill at any point, the next start finds it and repeats the same steps.
#   --once               looks once, does what is to be done, and ends
#   --dry-run [VERSION]  says what it would do, now or for that version of Kubernetes, and changes nothing
#   --drift              prints what others changed in the files that foresail wrote, and changes nothing
#   --accept PATH        takes such a file as it is now for the one that foresail wrote
# Parameters: AGENT_VERSION, VERSION_PATTERN (of what an annotation may ask for), ROOT (a folder that replaces / in tests)
# shellcheck disable=SC2317 # act and attempt call functions
# shellcheck source=providers/kubeadm/machine/node-agent/drift.sh disable=SC2034,SC2154 # drift.sh precedes this file
set -u -o pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
program=$ROOT$AGENT_PROGRAM_PATH
folder=$ROOT$AGENT_PATH
# else kubectl keeps what it knows of the API in the home of the user who runs it, if there is one
export KUBECACHEDIR=$folder/kubectl-cache
installers=$ROOT$AGENT_INSTALLERS_PATH
# contains the version of each software whose installer has begun and not come to its end
installing=$folder/installing
# contains no, or from before the first change until after the last: begun, upgrading as long as Kubernetes' version may be half
# changed, or upgraded until the kubelet runs with the new one. Agents before 1.13.0 wrote yes for all.
unfinished_file=$folder/unfinished
# contains the configurations whose change has begun since the last one was complete, one a line
changing=$folder/changing
# contains what this machine had when the change began: versions (SOFTWARE VERSION, one a line), ready (what its kubelet had
# reported), and before another version of Kubernetes the files that change with it
before=$folder/before
# exists from the first renewed certificate until everything that reads them has restarted
renewing=$folder/renewing
# contains the installers of the version that ran when others were staged: VERSION/SOFTWARE; no request can name them
former=$folder/former
initialized=$ROOT$AGENT_INITIALIZED_PATH
kubernetes=$ROOT/etc/kubernetes
output=$ROOT/run/foresail-node-agent.words
mode=serve
managed=() drift_mode=report
# sets node, software, revision, kubeadm_flags, retry_seconds, managed, drift_mode, and the keys of the annotations
# shellcheck source=test/unit/golden/node-agent.conf
. "$ROOT$AGENT_CONFIGURATION_PATH"

say() { printf '%s\n' "$*"; }

# Runs a command and logs what it does: WHAT COMMAND... A dry run only logs it.
act() {
  if [ "$mode" = dry-run ]; then say "would $1"; return 0; fi
  say "$1"
  shift
  "$@"
}

kubectl_as_kubelet() { kubectl --kubeconfig "$kubernetes/kubelet.conf" --request-timeout=20s "$@"; }

# Right after an API server has started, RBAC answers Forbidden to everyone, so every error here means "not yet".
not_yet=""
wait_for_api() {
  local why
  why=$(tail -n 1 "$output" 2>/dev/null || true)
  if [ "$why" != "$not_yet" ]; then say "the API server does not answer yet: $why" >&2; fi
  not_yet=$why
}

# Prints the annotations of a Node, one a line. Values come quoted, so that none can look like a line of its own.
# shellcheck disable=SC2016 # a Go template
annotations_template='{{range $key, $value := .metadata.annotations}}{{$key}} {{printf "%q" $value}}{{"\n"}}{{end}}'

# The annotations of this Node as they were last read or written.
declare -A annotation
is_read=no
read_node() {
  local lines key value
  lines=$(kubectl_as_kubelet get node "$node" --output "go-template=$annotations_template" 2>"$output") || { wait_for_api; return 1; }
  not_yet=""
  annotation=()
  while read -r key value; do
    if [[ $value == '"'*'"' ]]; then annotation[$key]=${value:1:-1}; fi
  done <<<"$lines"
}

# Collects what to write to the Node, which is only what differs.
changes=()
note() { if [ "${annotation[$1]-}" != "$2" ]; then changes+=("$1=$2"); fi; }
forget() { if [ -n "${annotation[$1]+there}" ]; then changes+=("$1-"); fi; }

# Writes what was collected in one request, and retries for two minutes.
publish() {
  local one
  if [ ${#changes[@]} -eq 0 ]; then return 0; fi
  if [ "$mode" = dry-run ]; then say "would write ${changes[*]}"; changes=(); return 0; fi
  for _ in $(seq 60); do
    if kubectl_as_kubelet annotate node "$node" --overwrite --field-manager=foresail-node-agent "${changes[@]}" >/dev/null 2>"$output"; then
      for one in "${changes[@]}"; do if [[ $one == *=* ]]; then annotation[${one%%=*}]=${one#*=}; else unset "annotation[${one%-}]"; fi; done
      not_yet="" changes=()
      return 0
    fi
    wait_for_api
    pause 2
  done
  say "the annotations could not be written within two minutes: $(tail -n 1 "$output")"
  return 1
}

# A join starts the agent before kubeadm writes its files, which are not drift.
await_membership() { until [ -e "$ROOT$MEMBER_PATH" ]; do sleep 0.2; done; }

pause() { if [ "$retry_seconds" != 0 ]; then sleep "$1"; fi; }

# Sleeps until the annotations of the Node are not as this agent has read or written them; fails when they have not changed
# within the given seconds.
watching=""
wait_for_change() {
  local status=0 until=$((SECONDS + $1))
  if [ -z "$watching" ]; then
    exec 7< <(exec kubectl --kubeconfig "$kubernetes/kubelet.conf" get nodes --field-selector "metadata.name=$node" --watch \
      --output "go-template=$annotations_template"'{{"\n"}}' 2>/dev/null 8>&- 9>&-)
    watching=$!
  fi
  while [ "$SECONDS" -lt "$until" ]; do
    read_event $((until - SECONDS)) || status=$?
    # only the last of several counts
    while [ "$status" = 0 ] && read -r -t 0 -u 7; do read_event 5 || status=1; done
    if [ "$status" -gt 128 ]; then return 1; fi
    # a watch ends from time to time
    if [ "$status" != 0 ]; then stop_watching; pause 2; return 0; fi
    if is_news; then return 0; fi
  done
  return 1
}

# Reads the annotations from the watch, which ends them with an empty line: SECONDS until they begin. Exit code above 128
# when they have not.
declare -A event
read_event() {
  local key value
  event=()
  read -r -t "$1" -u 7 key value || return
  while [ -n "$key" ]; do
    if [[ $value == '"'*'"' ]]; then event[$key]=${value:1:-1}; fi
    read -r -t 5 -u 7 key value || return 1
  done
}

# Takes over the annotations of the watch if they are not as they were last read or written.
is_news() {
  local key news=no
  if [ ${#event[@]} != ${#annotation[@]} ]; then news=yes; fi
  for key in "${!event[@]}"; do if [ "${event[$key]}" != "${annotation[$key]-}" ]; then news=yes; fi; done
  if [ "$news" = no ]; then return 1; fi
  annotation=()
  for key in "${!event[@]}"; do annotation[$key]=${event[$key]}; done
  is_read=yes
}
stop_watching() {
  if [ -z "$watching" ]; then return 0; fi
  kill "$watching" 2>/dev/null || true
  exec 7<&-
  watching=""
}
is_container() { systemd-detect-virt --container --quiet; }
is_adopted() { grep -qs '^adopted ' "$ROOT$MEMBER_PATH"; }
is_control_plane() { [ -e "$kubernetes/manifests/kube-apiserver.yaml" ]; }

# Prints the version of one software on this machine, or nothing when it has none: SOFTWARE [PROGRAM].
found() {
  case $1 in
  kubeadm) "${2:-kubeadm}" version --output=short 2>/dev/null | sed -n 's/^v//p' ;;
  kubelet) "${2:-kubelet}" --version 2>/dev/null | sed -n 's/^Kubernetes v//p' ;;
  kubectl) "${2:-kubectl}" version --client 2>/dev/null | sed -n 's/^Client Version: v//p' ;;
  containerd) dpkg-query --show --showformat='${Version}' "$(containerd_package)" 2>/dev/null ;;
  os-packages | configuration) cat "$folder/$1" 2>/dev/null ;;
  node-agent) printf '%s' "$AGENT_VERSION" ;;
  drift) printf '%s' "${drift_words%% *}" ;;
  certificates) first_certificate_end "$certificate_words" ;;
  esac || true
}

# Tells whether an interrupted change has left this software in between: its later steps are still to be done. Any other
# configuration that has begun may have left its files.
is_half_installed() {
  if [ "$1" = configuration ]; then [ -e "$changing" ]; return; fi
  if [ "$1" = certificates ]; then [ -e "$renewing" ]; return; fi
  [ -e "$installing/$1" ] && [ "$(<"$installing/$1")" = "$2" ]
}

# Tells whether a restarted kubelet keeps the Node's name, from the host's name or the flag that kubeadm wrote at the join.
keeps_its_name() {
  [ "$(hostname | tr '[:upper:]' '[:lower:]')" = "$node" ] || grep -qsE -- '--hostname-override='"${node//./\\.}"'("|[[:space:]]|$)' "$ROOT/var/lib/kubelet/kubeadm-flags.env" /etc/default/kubelet
}

# Formats a version for its annotation: Kubernetes' own programs with a leading v.
as_annotation() { case $1 in kube*) printf 'v%s' "$2" ;; *) printf '%s' "$2" ;; esac; }

# Prints what tells one file from another, also after it was moved: PATH.
identity_of() { stat --dereference --format='%i %s %.Y' "$1" 2>/dev/null || true; }

declare -A wanted have version_of
# Sets have[SOFTWARE] to the version on this machine. Each file of Kubernetes' programs is asked once.
find_version() {
  local file=""
  if [[ $1 == kube* ]]; then file=$(identity_of "$(command -v "$1")"); fi
  if [ -z "$file" ]; then have[$1]=$(found "$1"); return 0; fi
  if [ -z "${version_of[$1 $file]-}" ]; then version_of[$1 $file]=$(found "$1"); fi
  have[$1]=${version_of[$1 $file]}
}

# Asks for what an upgrade will need while the node is being drained, since after that each second counts: the version of the
# cluster, and those of the staged programs, which are only moved then.
known_cluster=""
prepare_upgrade() {
  local path name
  if ! is_control_plane; then known_cluster=$(cluster_version); fi
  for path in "$ROOT$AGENT_STAGED_PATH"/*/kube*; do
    name=${path##*/}
    if [ -x "$path" ]; then version_of[$name $(identity_of "$path")]=$(found "$name" "$path"); fi
  done
}

# Reads when the certificates end, if a file has changed since the last reading.
certificate_words="" certificate_files=-
find_certificates() {
  local now
  now=$(list_certificates | cut -d ' ' -f 2 | xargs -d '\n' stat --dereference --format='%n %i %s %y' 2>/dev/null)
  if [ "$now" = "$certificate_files" ]; then return 0; fi
  certificate_files=$now
  certificate_words=$(certificate_ends)
}

# Tells whether no certificate that kubeadm renews ends at an instant or before: after:INSTANT.
are_certificates_valid() { [[ $(first_certificate_end "$certificate_words") > ${1#after:} ]]; }

# Compares what the annotations ask for, or the version of a dry run, with what is installed.
due=() request=""
asked=annotations
compare() {
  local one
  due=() request="${annotation[$key_allowed]-}"
  find_certificates
  for one in "${software[@]}"; do
    if [ "$asked" = annotations ]; then wanted[$one]=${annotation[${key_desired[$one]}]-}; else wanted[$one]=$([[ $one != kube* ]] || say "$asked"); fi
    wanted[$one]=${wanted[$one]#v}
    if [ "$one" = drift ] && { [ "$drift_mode" != repair ] || [ "${wanted[$one]}" != none ]; }; then wanted[$one]=""; fi
    if [ "$one" = certificates ] && [[ ${wanted[$one]} != after:* ]]; then wanted[$one]=""; fi
    request+=" $one ${wanted[$one]}"
    find_version "$one"
    if [ "$one" = certificates ] && [ -n "${wanted[$one]}" ] && are_certificates_valid "${wanted[$one]}"; then have[$one]=${wanted[$one]}; fi
    if [ -n "${wanted[$one]}" ] && { [ "${wanted[$one]}" != "${have[$one]}" ] || is_half_installed "$one" "${wanted[$one]}"; }; then due+=("$one"); fi
  done
}
is_due() { [[ " ${due[*]-} " == *" $1 "* ]]; }

# Prints how many MiB an upgrade writes, and where: a line PATH MIB for packages, images and kubeadm's copy of etcd.
space_of_upgrade() {
  local data
  say "$ROOT/usr 300"
  if ! is_control_plane; then say "$ROOT/var/lib/containerd 100"; return 0; fi
  say "$ROOT/var/lib/containerd 500"
  data=$(sed -n 's/^ *- --data-dir=//p' "$kubernetes/manifests/etcd.yaml" 2>/dev/null | head -n 1)
  if [ -n "$data" ]; then say "$kubernetes $(du --summarize --block-size=1M "$ROOT$data" 2>/dev/null | cut -f 1)"; fi
}

# Finds the filesystems on which an upgrade would run out of space.
key_shortage=${key_ready%/ready}/disk-shortage
shortage=""
find_shortage() {
  local path mib free mount
  local -A needed=() available=()
  shortage=""
  while read -r path mib; do
    until [ -e "$path" ]; do path=${path%/*}; path=${path:-/}; done
    read -r free mount < <(df --block-size=1M --output=avail,target "$path" 2>/dev/null | tail -n 1)
    if [ -z "${mount-}" ]; then continue; fi
    needed[$mount]=$((${needed[$mount]-0} + ${mib:-0})) available[$mount]=$free
  done < <(space_of_upgrade)
  for mount in "${!needed[@]}"; do
    if [ "${available[$mount]}" -lt "${needed[$mount]}" ]; then shortage+="${shortage:+, }$mount has ${available[$mount]} MiB free, an upgrade needs ${needed[$mount]} MiB"; fi
  done
}

# Collects what compare has found.
note_found() {
  local one
  note "$key_revision" "$revision"
  find_shortage
  if [ -n "$shortage" ]; then note "$key_shortage" "$shortage"; else forget "$key_shortage"; fi
  for one in "${software[@]}"; do
    if [ "$one" = drift ]; then
      if [ "$drift_words" = none ]; then forget "${key_current[$one]}"; else note "${key_current[$one]}" "$drift_words"; fi
    elif [ "$one" = certificates ]; then
      if [ -n "$certificate_words" ]; then note "${key_current[$one]}" "$certificate_words"; fi
    elif [ -n "${have[$one]}" ]; then
      note "${key_current[$one]}" "$(as_annotation "$one" "${have[$one]}")"
    fi
  done
}

minor_of() { local rest=${1#*.}; printf '%s' "${rest%%.*}"; }

# Prints the version of the whole cluster, as kubeadm records it. Every node may read it. Fails while the API server does not
# answer; prints nothing when it is not recorded. kubectl reads every form of YAML in which others may have written it.
cluster_version() {
  local credentials=$kubernetes/kubelet.conf text
  if is_control_plane; then credentials=$kubernetes/admin.conf; fi
  text=$(kubectl --kubeconfig "$credentials" --request-timeout=20s --namespace kube-system get configmap kubeadm-config \
    --output 'jsonpath={.data.ClusterConfiguration}' 2>"$output") || { wait_for_api; return 1; }
  kubectl annotate --local --filename - foresail/read=yes --output 'jsonpath={.kubernetesVersion}' <<<"$text" 2>"$output" | sed -n '1s/^v//p'
  return 0
}

no_version="the cluster's version could not be read from kubernetesVersion in the ConfigMap kubeadm-config"

# Prints why the request is refused, or nothing. Exit code FINAL when waiting does not change that.
refuse() {
  local one to from cluster
  for one in "${due[@]}"; do
    to=${wanted[$one]}
    if ! [[ $to =~ $VERSION_PATTERN ]]; then say "$one: \"${to:0:60}\" is not a version"; return "$FINAL"; fi
    if [ "$one" != drift ] && [ "$one" != certificates ] && [ ! -f "$installers/$one/$to" ]; then
      # shellcheck disable=SC2011 # names of versions have no spaces
      say "$one $to is not staged on this machine, which has: $(ls "$installers/$one" 2>/dev/null | xargs); a node takes only what foresail has put there"
      return "$FINAL"
    fi
  done
  if ! keeps_its_name; then
    say "this machine calls itself $(hostname) and its kubelet was given no other name, so it would come back as another Node than $node; run there: hostnamectl set-hostname $node"
    return "$FINAL"
  fi
  to=${wanted[kubelet]} from=${have[kubelet]}
  if [ "$to" != "${wanted[kubeadm]}" ] || [ "$to" != "${wanted[kubectl]}" ]; then
    say "kubelet, kubeadm and kubectl have to go to the same version, but are asked for ${to:-none}, ${wanted[kubeadm]:-none} and ${wanted[kubectl]:-none}"
    return "$FINAL"
  fi
  if is_due kubelet && ! is_unfinished; then
    find_shortage
    if [ -n "$shortage" ]; then say "too little free space: $shortage"; return 0; fi
  fi
  if [ -z "$to" ] || [ -z "$from" ] || [ "$asked" != annotations ]; then return 0; fi
  if [ "$(minor_of "$to")" -lt "$(minor_of "$from")" ]; then say "a kubelet never goes back a minor version, from $from to $to"; return "$FINAL"; fi
  if [ "$(minor_of "$to")" -gt "$(($(minor_of "$from") + 1))" ]; then say "one minor version at a time: $to is more than one above $from"; return "$FINAL"; fi
  if is_control_plane; then
    if cluster=$(cluster_version) && [ -z "$cluster" ]; then say "$no_version"; fi
    return 0
  fi
  cluster=$known_cluster
  # the version of a cluster only rises
  if [ -z "$cluster" ] || [ "$(minor_of "$to")" -gt "$(minor_of "$cluster")" ]; then cluster=$(cluster_version); fi
  if [ -z "$cluster" ]; then say "$no_version: $(tail -n 1 "$output")"; return 0; fi
  if [ "$(minor_of "$to")" -gt "$(minor_of "$cluster")" ]; then say "the control plane is at $cluster; a kubelet is never newer"; fi
}
# Why a change failed, and whether it would fail in the same way each time.
failure="" is_final=no

# Runs a program, with its output in the journal as it comes.
run() {
  "$@" </dev/null 2>&1 | tee "$output"
  return "${PIPESTATUS[0]}"
}

# Prints the line that says most about a failure: what kubeadm's preflight found, else the last that is not a mere hint.
last_line() {
  { grep -F '[ERROR ' "$output" || grep -v 'To see the stack trace' "$output" | grep .; } | tail -n 1 | tr -cd '[:print:]' | cut -c 1-300
}

# Runs a program: WHAT PROGRAM... Retries for two minutes what an API server that has just started refuses.
attempt() {
  local what=$1 status
  shift
  for _ in $(seq 24); do
    if run "$@"; then return 0; else status=$?; fi
    if [ "$status" = "$FINAL" ]; then is_final=yes; break; fi
    if ! grep -qiE 'forbidden|connection refused|connection reset|handshake timeout|etcdserver: ' "$output"; then break; fi
    pause 5
  done
  failure="$what: $(last_line)"
  return 1
}

install_version() {
  local installer=$installers/$1/$2
  if [ "$mode" = dry-run ]; then
    if ! run bash "$installer" check >&2; then failure="$1 $2: $(last_line)"; return 1; fi
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
  remember_starts
  if is_due node-agent; then
    install_version node-agent "${wanted[node-agent]}" || return 1
    act "start node agent ${wanted[node-agent]}" start_anew
  fi
  if is_due drift; then repair_drift || return 1; fi
  if is_due os-packages; then install_version os-packages "${wanted[os-packages]}" || return 1; fi
  if is_due containerd; then install_version containerd "${wanted[containerd]}" || return 1; fi
  if is_due kubeadm || is_due kubelet || is_due kubectl || { may_be_half_upgraded && [ -n "${wanted[kubelet]}" ]; }; then
    # kubeadm writes the cluster's configuration, with which this machine may have to go back
    if is_due configuration && [ "$mode" != dry-run ]; then attempt "keep the files of before" bash "$installers/configuration/${wanted[configuration]}" keep || return 1; fi
    change_kubernetes "${wanted[kubelet]}" || return 1
  elif [ "$unfinished" = upgraded ]; then
    come_up_with "${have[kubelet]}" || return 1
  fi
  # last, when kubeadm has the version of the cluster
  if is_due configuration; then change_configuration "${wanted[configuration]}" || return 1; fi
  if is_due certificates; then renew_certificates || return 1; fi
  # the file is in memory, so after the reboot there is nothing left to do
  if [ -n "${wanted[os-packages]}" ] && [ -e "$ROOT/run/reboot-required" ] && ! is_container; then act "reboot, as the new packages ask for" reboot_machine; fi
}

reboot_machine() {
  systemctl reboot
  if [ "$mode" = once ]; then exit 0; fi
  sleep infinity
}

change_kubernetes() {
  local to=$1
  remember_unfinished upgrading
  if is_due kubeadm; then install_version kubeadm "$to" || return 1; fi
  # a bundle's images are in no registry
  if [ -f "$installers/images/$to" ]; then install_version images "$to" || return 1; fi
  upgrade_kubernetes "$to" || return 1
  if is_due kubelet; then install_version kubelet "$to" || return 1; fi
  if is_due kubectl; then install_version kubectl "$to" || return 1; fi
  remember_unfinished upgraded
  came_up=""
  come_up_with "$to"
}

came_up="" is_awaited=no

# Restarts the kubelet of another version, and waits until the Node is Ready: VERSION. When that takes longer, each further try only
# waits, as long as the rollout asks for it, whose limit decides.
come_up_with() {
  if [ "$came_up" != "$1" ]; then act "restart the kubelet, and wait until the Node is Ready" restart_kubelet || return 1; else kubelet_restarts=$(restarts_of_kubelet); fi
  if [ "$mode" = dry-run ]; then return 0; fi
  came_up=$1 is_awaited=yes
  if ! await_ready_node; then
    # a kubelet that keeps ending starts again in the next try
    if [ "$is_final" = yes ]; then came_up="" is_awaited=no; fi
    return 1
  fi
  came_up=""
  remember_unfinished begun
}

patch_flags=()

# Adds the patches that this machine was created with to kubeadm's flags; without them, an upgrade would undo them. Only
# kubeadm init leaves a super-admin.conf.
add_patches() {
  local patches=${patches_of_join-}
  if [ -e "$kubernetes/super-admin.conf" ]; then patches=${patches_of_init-}; fi
  # an adopted machine may have its own
  if [ -z "$patches" ] && grep -qs '^adopted ' "$ROOT$MEMBER_PATH" && [ -d "$ROOT$OWN_PATCHES_PATH" ]; then patches=$OWN_PATCHES_PATH; fi
  if [ -n "$patches" ]; then patch_flags=("--patches=$patches"); fi
  kubeadm_flags+=("${patch_flags[@]}")
}

# Removes the copies of etcd's data that kubeadm leaves at each upgrade, except for the newest.
prune_copies() {
  local one copies=()
  mapfile -t copies < <(find "$kubernetes/tmp" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null | grep -xE 'kubeadm-backup-etcd(-[0-9]+){6}' | sort)
  if [ ${#copies[@]} -lt 2 ]; then return 0; fi
  for one in "${copies[@]:0:${#copies[@]}-1}"; do
    act "remove an older copy of etcd: $kubernetes/tmp/$one" rm -rf --one-file-system "$kubernetes/tmp/$one" || true
  done
}

# Runs kubeadm upgrade; each of several attempts leaves a copy.
kubeadm_upgrade() {
  prune_copies
  kubeadm upgrade "$@" && prune_copies
}

# Runs kubeadm upgrade apply once in the cluster, and kubeadm upgrade node on every other node.
upgrade_kubernetes() {
  local to=$1 cluster=""
  if ! is_control_plane; then
    act "kubeadm upgrade node" attempt "kubeadm upgrade node" kubeadm upgrade node "${kubeadm_flags[@]}"
    return
  fi
  for _ in $(seq 24); do
    # an answer without a version stays so
    cluster=$(cluster_version) && break
    if [ "$mode" = dry-run ]; then break; fi
    pause 5
  done
  if [ -z "$cluster" ] && [ "$mode" != dry-run ]; then failure="$no_version: $(last_line)"; return 1; fi
  # kubeadm records the new version before its last steps, so our own file shows that an apply was interrupted
  if [ "$cluster" != "$to" ] || [ "$(cat "$folder/applying" 2>/dev/null)" = "$to" ]; then
    if [ "$mode" != dry-run ]; then printf '%s' "$to" >"$folder/applying"; fi
    act "kubeadm upgrade apply v$to" attempt "kubeadm upgrade apply v$to" kubeadm_upgrade apply "v$to" --yes "${kubeadm_flags[@]}" || return 1
    if [ "$mode" != dry-run ]; then rm -f "$folder/applying"; fi
  else
    act "kubeadm upgrade node" attempt "kubeadm upgrade node" kubeadm_upgrade node "${kubeadm_flags[@]}"
  fi
}

# Brings the machine to a configuration, or back to the one before when it does not come up with it: VERSION.
change_configuration() {
  local why
  if [ "$mode" != dry-run ]; then printf '%s\n' "$1" >>"$changing"; fi
  if apply_configuration "$1"; then
    if [ "$mode" != dry-run ]; then
      printf '%s' "$1" >"$folder/configuration"
      rm -f "$changing"
    fi
    return 0
  fi
  why=$failure
  if [ "$mode" = dry-run ]; then return 1; fi
  # the pod that kept ending stays the newest one until the kubelet has made that of before again
  remember_starts
  failure=""
  if act "go back to the previous configuration" run bash "$installers/configuration/$1" restore && restart_kubelet && await_previous_etcd "$1" && await_previous_certificate "$1" && await_ready_node; then
    rm -f "$changing"
    failure="$why; this machine went back to its previous configuration"
  else
    failure="$why; going back failed, too: ${failure:-$(last_line)}"
  fi
  rm -f "$installing/configuration"
  # the same configuration would fail again, and each time it takes something down
  is_final=yes
  longer_pause=1800
  return 1
}

# Renews what kubeadm has signed, and restarts what reads it, unless kubeadm upgrade did both.
renew_certificates() {
  local name
  find_certificates
  if [ ! -e "$renewing" ] && are_certificates_valid "${wanted[certificates]}"; then return 0; fi
  if [ "$mode" != dry-run ]; then touch "$renewing"; fi
  act "kubeadm certs renew all" attempt "kubeadm certs renew all" kubeadm certs renew all || return 1
  for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
    if [ ! -e "$kubernetes/manifests/$name.yaml" ]; then continue; fi
    act "restart $name" restart_static_pod "$name" "$kubernetes/manifests/$name.yaml" || return 1
  done
  if [ "$mode" != dry-run ]; then rm -f "$renewing"; fi
}

part_of() { cut -s -d . -f "$1" <<<"$2"; }

# Tells whether a part of a control plane's configuration changes: NUMBER VERSION. It may have the settings of any change that
# has begun. As long as its settings had not changed, a version had no such part, and the baseline has it.
changes_part() {
  local version before after
  after=$(part_of "$1" "$2")
  if ! is_control_plane || [ -z "$after" ]; then return 1; fi
  while read -r version; do
    before=$(part_of "$1" "$version")
    if [ -z "$before" ]; then before=$(part_of "$1" "$(bash "$installers/configuration/$2" baseline)"); fi
    if [ "$before" != "$after" ]; then return 0; fi
  done < <(printf '%s\n' "${have[configuration]}"; cat "$changing" 2>/dev/null)
  return 1
}
changes_etcd() { changes_part 4 "$1"; }
changes_certificate() { changes_part 5 "$1"; }

# kubeadm takes each static pod back by itself when it does not come up, except for etcd.
apply_configuration() {
  local installer=$installers/configuration/$1 credentials=$kubernetes/kubelet.conf
  install_version configuration "$1" || return 1
  if is_control_plane; then
    credentials=$kubernetes/admin.conf
    if changes_etcd "$1"; then act "change etcd" change_etcd "$installer" || return 1; fi
    if changes_certificate "$1"; then act "change the API server's certificate" change_certificate "$installer" || return 1; fi
    act "kubeadm upgrade node phase control-plane" attempt "kubeadm upgrade node phase control-plane" until_static_pod_fails \
      kubeadm upgrade node phase control-plane --certificate-renewal=false --etcd-upgrade=false "${patch_flags[@]}" || return 1
  fi
  # not earlier: an API server that starts again while etcd restarts still reads them
  if [ "$mode" != dry-run ]; then attempt "remove the files that are no longer configured" bash "$installer" remove || return 1; fi
  if is_control_plane; then
    act "restart the static pods whose files have changed" restart_static_pods "$installer" || return 1
  fi
  act "kubeadm upgrade node phase kubelet-config" attempt "kubeadm upgrade node phase kubelet-config" \
    kubeadm upgrade node phase kubelet-config --kubeconfig "$credentials" "${patch_flags[@]}" || return 1
  act "restart the kubelet, and wait until the Node is Ready" restart_kubelet_of_ready_node
}

# Gives the member of etcd on this machine another manifest, and waits until it and the API server are healthy: INSTALLER.
# `kubeadm upgrade node --etcd-upgrade` would replace the member's peers, and copy etcd's data back if that takes long.
change_etcd() {
  local manifest=$kubernetes/manifests/etcd.yaml new=$kubernetes/.foresail-etcd.yaml before=""
  attempt "kubeadm init phase etcd local" bash "$1" etcd "$new" "${patch_flags[@]}" || return 1
  if cmp --silent "$new" "$manifest"; then
    rm -f "$new"
  else
    before=$(processes_of etcd)
    move_into_place "$new" "$manifest" || return 1
  fi
  await_static_pod etcd "$before" && await_static_pod kube-apiserver
}

await_previous_etcd() { ! changes_etcd "$1" || await_static_pod etcd; }

# Gives the API server on this machine a certificate with other names, and waits until it is ready with it: INSTALLER. The API
# server loads a certificate that changes by itself.
change_certificate() {
  attempt "create the API server's certificate" bash "$1" certificate "$kubernetes/.foresail-certificate" || return 1
  exchange_certificate && await_certificate
}

# Puts a new certificate and its key in place. The next start ends what a power cut interrupted: an API server does not start
# with one of them alone.
exchange_certificate() {
  local new=$kubernetes/.foresail-certificate
  if [ ! -d "$new" ]; then return 0; fi
  attempt "replace the API server's certificate" find "$new" -type f -exec mv -f -t "$kubernetes/pki" {} + && rmdir "$new"
}

# Waits until the API server is ready, and answers with the key of the certificate that is on this machine.
await_certificate() {
  local key=$folder/certificate.pub
  if ! openssl x509 -noout -pubkey -in "$kubernetes/pki/apiserver.crt" >"$key" 2>"$output"; then
    failure="read $kubernetes/pki/apiserver.crt: $(last_line)"
    return 1
  fi
  for _ in $(seq 100); do
    if curl --silent --fail --insecure --noproxy '*' --max-time 5 --output /dev/null --pinnedpubkey "$key" https://127.0.0.1:6443/readyz; then return 0; fi
    pause 3
  done
  failure="the API server is not ready with its new certificate after five minutes; look at the logs in /var/log/pods"
  return 1
}

await_previous_certificate() { ! changes_certificate "$1" || await_certificate; }

# Restarts the static pods that read files which this configuration changes: INSTALLER. kubeadm has restarted those whose
# manifest is not as it was before, and waited until their pod was there, whether its program runs or not.
restart_static_pods() {
  local manifest kept name changed
  changed=$(bash "$1" changed)
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    manifest=$kubernetes/manifests/$name.yaml
    kept=$folder/previous/files$manifest
    if [ ! -e "$kept" ]; then continue; fi
    if ! cmp --silent "$manifest" "$kept"; then
      await_static_pod "$name" || return 1
    elif [ -n "$changed" ] && mounts_any "$manifest" "$changed"; then
      restart_static_pod "$name" "$manifest" || return 1
    fi
  done
}

# Tells whether a static pod mounts one of these files, or a folder that contains it: MANIFEST FILES.
mounts_any() {
  local mounted file
  while read -r mounted; do
    while read -r file; do
      if [[ $file == "$mounted" || $file == "$mounted"/* ]]; then return 0; fi
    done <<<"$2"
  done < <(sed -n 's/^ *path: *//p' "$1")
  return 1
}

# Restarts a static pod and waits for its new process: NAME MANIFEST [TEXT_OF_MANIFEST]. The kubelet makes a pod again when
# its manifest differs.
restart_static_pod() {
  local name=$1 text=${3:-$2} before new=$kubernetes/.foresail-$1.yaml
  before=$(processes_of "$name")
  attempt "replace $2" cp --archive "$text" "$new" || return 1
  mark_for_restart "$new"
  move_into_place "$new" "$2" && await_static_pod "$name" "$before"
}

# Puts a new file in the place of another one: NEW PATH.
move_into_place() {
  if attempt "replace $2" mv -f "$1" "$2"; then return 0; fi
  rm -f "$1"
  end_if_fixed
  return 1
}

# Takes a failure to replace a file for final when the file can't change: it is mounted or immutable. A full disk may get space.
end_if_fixed() {
  if grep -qE 'Device or resource busy|Read-only file system|Operation not permitted' "$output"; then is_final=yes; fi
}

# Waits until a static pod is healthy and has a process that it did not have before: NAME [PROCESSES].
await_static_pod() {
  local name=$1
  for _ in $(seq 100); do
    if [ -n "$(comm -13 <(printf '%s\n' "${2-}") <(processes_of "$name"))" ] && is_static_pod_healthy "$name"; then return 0; fi
    forgive_starts "$name"
    if failure=$(keeps_ending "$name"); then is_final=yes; return 1; fi
    pause 3
  done
  failure="$name is not healthy five minutes after its restart; look at the logs in /var/log/pods"
  return 1
}

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

unfinished=no
failures=0 failed_request="" not_before=0 longer_pause=0

# Brings the machine to what a node needs: kernel settings, no swap, containerd, Kubernetes' programs. The ready file is
# read over SSH.
initialize() {
  local one sysctl=$ROOT/etc/sysctl.d/90-foresail.conf
  if [ -e "$initialized" ] && [ "${is_initialized-}" = yes ]; then return 0; fi
  rm -f "$initialized"
  exchange_certificate || return 1
  if [ -e "$sysctl" ]; then sysctl --quiet --ignore --load="$sysctl"; fi
  # inside a container the swap is the host's, and on an adopted machine its administrator decided about it
  if ! is_container && ! is_adopted && ! runs_with_swap && [ -n "$(swapon --noheadings --show 2>/dev/null)" ]; then say "turn swap off"; swapoff -a; fi
  if ! systemctl is-active --quiet containerd; then
    attempt "start containerd" systemctl start containerd || return 1
  fi
  for one in kubeadm kubelet kubectl; do
    if [ -z "$(found "$one")" ]; then failure="$one is not on this machine"; return 1; fi
  done
  # a machine that joined under another name keeps its own: the kubelet has a flag with the Node's
  if [ "$(hostname)" != "$node" ]; then say "this machine calls itself $(hostname); its Node is $node"; fi
  printf '%s\n' "$AGENT_VERSION" >"$initialized"
  is_initialized=yes
}

# The requests that failed for good, as "software@version" of each, or "back" when going back did; the run that asked ends then.
# It removes them to try again.
key_final=${key_ready%/ready}/final-failure
is_final_published=no

# Prints what the annotations ask for.
requested() {
  local one words=""
  if asks_back; then printf back; return 0; fi
  for one in "${software[@]}"; do if [ -n "${wanted[$one]}" ]; then words+="${words:+ }$one@${wanted[$one]}"; fi; done
  printf '%s' "$words"
}

fail() {
  local pause_seconds
  if [ "$failed_request" != "$request" ]; then failures=0; fi
  say "failed: $1"
  failures=$((failures + 1)) failed_request=$request
  pause_seconds=$((retry_seconds * (1 << (failures < 7 ? failures - 1 : 6))))
  # a try that only waits needs no longer pause
  if [ "$is_awaited" = yes ]; then pause_seconds=$retry_seconds; fi
  not_before=$((SECONDS + (pause_seconds > 300 ? 300 : pause_seconds) + longer_pause))
  longer_pause=0
  compare
  changes=()
  note_found
  note "$key_message" "$1$([ "$failures" = 1 ] || [ "$is_final" = yes ] || say " (try $failures)")"
  if [ "$is_final" = yes ]; then note "$key_final" "$(requested)"; else forget "$key_final"; fi
  is_final_published=no
  if publish && [ "$is_final" = yes ]; then is_final_published=yes; fi
}

# Tells whether the last failure still holds: its pause has not ended, and no run asks to try again.
is_pausing() {
  [ "$request" = "$failed_request" ] && [ "$SECONDS" -lt "$not_before" ] && { [ "$is_final_published" = no ] || [ -n "${annotation[$key_final]-}" ]; }
}

is_unfinished() { [ "$unfinished" != no ]; }

# Tells whether a change of Kubernetes' version was interrupted. Only then kubeadm upgrade runs as a whole again: it writes the
# cluster's configuration, so that what a configuration's second try keeps would not be the files of before.
may_be_half_upgraded() { [ "$unfinished" = upgrading ] || [ "$unfinished" = yes ]; }
is_pending() { [ ${#due[@]} -gt 0 ] || is_unfinished; }
is_allowed() { [ "${annotation[$key_allowed]-}" = true ]; }

# Records for the next start and round. This round changes only what is due.
remember_unfinished() { if [ "$mode" != dry-run ]; then printf '%s' "$1" >"$unfinished_file"; fi; }
remember_begun() { if is_unfinished; then remember_unfinished "$unfinished"; else remember_unfinished begun; fi; }

# Reads the Node again after ready=false was written, and tells whether it still asks for the same. A run that replaced the request
# before that write takes the node for one that was never asked; one that does so after this reading waits.
is_still_asked() {
  local before=$request
  read_node || return 1
  compare
  [ "$request" = "$before" ]
}

# Records again what was so before a change that did not begin.
abandon() {
  say "the Node asks for something else by now"
  remember_unfinished "$unfinished"
  if is_unfinished; then return 0; fi
  changes=()
  note "$key_ready" true
  publish
}

# Others may be able to write the annotations, so what is unfinished comes from this machine's own file. Agents before
# 1.2.0 had only the annotation, which is read once: when there is no such file yet.
observe() {
  if [ "$is_read" = no ]; then read_node || return 1; fi
  is_read=no
  compare
  if [ -e "$unfinished_file" ]; then unfinished=$(<"$unfinished_file"); return 0; fi
  unfinished=no
  if [ "${annotation[$key_ready]-}" = false ]; then unfinished=yes; fi
  remember_unfinished "$unfinished"
}

# Acts on what the Node asks for. Returns 0 when everything allowed is done, 1 after a failure, 75 when the API does not answer yet,
# or when the Node asks for something else by now.
round() {
  local refusal is_fit=yes
  is_awaited=no
  start_stopped_kubelet
  initialize || is_fit=no
  look
  observe || return 75
  if is_pausing; then return 1; fi
  is_final=no
  if [ "$is_fit" = no ]; then fail "$failure"; return 1; fi
  changes=()
  note_found
  if asks_back; then turn_back; return; fi
  if ! is_allowed && ! is_unfinished; then forget_before; fi
  if ! is_pending; then
    if is_allowed; then prepare_upgrade; fi
    finish
    return
  fi
  if ! is_allowed; then
    if is_unfinished; then note "$key_ready" false; else note "$key_ready" true; fi
    publish
    return
  fi
  # nothing else changes the machine meanwhile
  exec 9>>"$ROOT$LOCK_PATH"
  if ! flock --nonblock 9; then
    say "another step of foresail runs on this machine; waiting for its end"
    flock 9 || return 1
    # what was read before the wait may be out of date
    look
    observe || return 75
    if ! is_pending || ! is_allowed; then return 0; fi
  fi
  refusal=$(refuse) || is_final=yes
  if [ -n "$refusal" ]; then fail "$refusal"; return 1; fi
  changes=()
  note_found
  forget "$key_final"
  note "$key_ready" false
  if ! is_unfinished; then remember_drift; remember_before; fi
  remember_begun
  publish || return 1
  if ! is_still_asked; then abandon; return 75; fi
  if ! change; then fail "$failure"; return 1; fi
  keep_own_work
  compare
  if [ ${#due[@]} -gt 0 ]; then fail "installed, but ${due[0]} is still ${have[${due[0]}]:-missing} and not ${wanted[${due[0]}]}"; return 1; fi
  remember_unfinished no
  changes=()
  note_found
  finish
}

finish() {
  note "$key_ready" true
  forget "$key_message"
  forget "$key_final"
  publish || return 1
  failures=0 failed_request=""
}

# Prints what a round would do now, or for another version of Kubernetes, and whether its source has it.
dry_run() {
  local refusal
  if [ "$asked" = annotations ]; then look; observe || return 75; else compare; fi
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

# Waits until the Node or a managed file changes, but no longer than the given seconds.
rest() {
  local until=$((SECONDS + $1)) seconds
  while [ "$SECONDS" -lt "$until" ]; do
    seconds=$((until - SECONDS))
    if wait_for_change $((seconds < 60 ? seconds : 60)); then return 0; fi
    if is_touched; then return 0; fi
  done
}

patience() {
  if [ "$failures" = 0 ]; then if [ -z "$shortage" ]; then echo 300; else echo 60; fi; return; fi
  echo $((not_before > SECONDS ? not_before - SECONDS : 1))
}

main() {
  local status
  add_patches
  arguments=("$@")
  case ${1-} in
  "") ;;
  --once) mode=once ;;
  --dry-run) mode=dry-run asked=${2:-annotations} ;;
  --drift) mode=dry-run; print_drift; exit ;;
  --accept) accept_drift "${2-}"; exit ;;
  *) say "usage: node-agent [--once | --dry-run [VERSION] | --drift | --accept PATH]"; exit 64 ;;
  esac
  if [ "$mode" = dry-run ]; then
    output=$(mktemp)
    trap 'rm -f "$output"' EXIT
    dry_run
    exit
  fi
  mkdir -p "$folder"
  exec 8>>"$ROOT/run/foresail-node-agent.lock"
  if ! flock --nonblock 8; then say "another node agent runs on this machine; waiting for its end"; flock 8 || exit 1; fi
  trap stop_watching EXIT
  say "node agent $AGENT_VERSION of $node"
  await_membership
  while :; do
    round
    status=$?
    exec 9>&-
    if [ "$mode" = once ]; then exit "$status"; fi
    if [ "$status" = 75 ]; then pause 2; else rest "$(patience)"; fi
  done
}
main "$@"; exit
