# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # parts of one program
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
  os-updates) cat "$updates/completed" 2>/dev/null ;;
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
  find_updates
  for one in "${software[@]}"; do
    if [ "$asked" = annotations ]; then wanted[$one]=${annotation[${key_desired[$one]}]-}; else wanted[$one]=$([[ $one != kube* ]] || say "$asked"); fi
    wanted[$one]=${wanted[$one]#v}
    if [ "$one" = drift ] && { [ "$drift_mode" != repair ] || [ "${wanted[$one]}" != none ]; }; then wanted[$one]=""; fi
    if [ "$one" = certificates ] && [[ ${wanted[$one]} != after:* ]]; then wanted[$one]=""; fi
    if [ "$one" = os-updates ] && [ "${wanted[$one]}" = none ]; then wanted[$one]=""; fi
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
    elif [ "$one" = os-updates ]; then
      if [ -n "$update_words" ]; then note "${key_current[$one]}" "$update_words"; else forget "${key_current[$one]}"; fi
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
