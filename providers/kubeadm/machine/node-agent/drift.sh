# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # program.sh sets and reads the others
# Finds what others changed in the files that foresail and kubeadm wrote on this machine, and puts it back when the Node's
# annotations ask for it. A copy of each file, which only root can read, shows how they left it: it is taken when there is
# none yet, and again after the agent's own work. Part of program.sh, whose variables it uses; the agent's configuration sets
# managed (paths of the user's files and of mirrors).

list_managed() {
  printf '%s\n' /etc/kubernetes/manifests/{etcd,kube-apiserver,kube-controller-manager,kube-scheduler}.yaml \
    /var/lib/kubelet/{config.yaml,kubeadm-flags.env} \
    /etc/systemd/system/{containerd,kubelet}.service.d/foresail-proxy.conf /etc/systemd/system/kubelet.service \
    /usr/local/share/ca-certificates/foresail.crt \
    /etc/sysctl.d/90-foresail.conf /etc/modules-load.d/foresail.conf "${managed[@]}"
  # credentials of registries and of a proxy are in no second file
  if ! has_registry_credentials; then echo /etc/containerd/config.toml; fi
  if ! grep -qs '://[^/"]*@' "$ROOT/etc/apt/apt.conf.d/90foresail-proxy"; then echo /etc/apt/apt.conf.d/90foresail-proxy; fi
}

has_registry_credentials() {
  grep -Eqs '\.auth\]|^[[:space:]]*(auth|password|identitytoken)[[:space:]]*=' "$ROOT/etc/containerd/config.toml"
}

copy_of() { printf '%s/kept/files%s' "$folder" "$1"; }
is_kept() { grep -qsxF -- "$1" "$folder/kept/paths"; }

# Keeps a copy of a managed file, or that there is none: PATH. Fails for what others made of it that foresail does not read.
keep() {
  local copy
  copy=$(copy_of "$1")
  mkdir -p "$folder/kept"
  if is_there "$ROOT$1"; then
    mkdir -p "${copy%/*}"
    if ! copy_file "$ROOT$1" "$copy.new"; then say "$1 is not a regular file, so foresail does not read it"; return 1; fi
    mv -f "$copy.new" "$copy"
  else
    rm -f "$copy"
  fi
  if ! is_kept "$1"; then printf '%s\n' "$1" >>"$folder/kept/paths"; fi
}

# Prints a manifest on standard input without the mark with which foresail restarts a static pod, and without the map of
# annotations if nothing else is in it.
unmarked() {
  awk '/^    foresail\/restarted-at: / { next }
    held { if (/^    /) print held; held = "" }
    /^  annotations:$/ { held = $0; next }
    { print }
    END { if (held) print held }'
}

# Tells whether a managed file has the text of its copy: COPY FILE.
is_same_text() { cmp --silent <(unmarked <"$1") <(read_file "$2" | unmarked); }

# Prints who may do what with a managed file: FILE FORMAT.
access_of() {
  # what a link of others leads to is none of root's business
  if is_roots_alone "${1%/*}"; then stat --dereference --format="$2" "$1"; else stat --format="$2" "$1"; fi
}

# Compares the managed files with their copies: sets difference[PATH] to one word, or to nothing, for each that has a copy
# or had none when copies were taken. Reads all of them by two programs, since a start of one for each costs more than the rest.
declare -A difference
compare_files() {
  local path now copy value
  local -A sum=() access=()
  local -a paths=() both=()
  difference=()
  if [ ! -e "$folder/kept/paths" ]; then return 0; fi
  mapfile -t paths < <(list_managed | grep -xF -f "$folder/kept/paths")
  if [ ${#paths[@]} -eq 0 ]; then return 0; fi
  for path in "${paths[@]}"; do
    now=$ROOT$path
    both+=("$folder/kept/files$path")
    if is_roots_alone "${now%/*}"; then both+=("$now"); continue; fi
    sum[$now]=$(read_file "$now" | sha256sum | cut -d ' ' -f 1)
    access[$now]=$(access_of "$now" '%a,%u:%g' 2>/dev/null)
  done
  while read -r -d "" value now; do sum[$now]=$value; done < <(sha256sum --zero "${both[@]}" 2>/dev/null)
  while read -r value now; do access[$now]=$value; done < <(stat --dereference --format='%a,%u:%g %n' "${both[@]}" 2>/dev/null)
  for path in "${paths[@]}"; do
    now=$ROOT$path copy=$folder/kept/files$path value=""
    if [ ! -e "$now" ]; then
      if [ -e "$copy" ]; then value=removed; fi
    elif [ ! -e "$copy" ]; then
      value=added
    elif [ "${sum[$now]-}" != "${sum[$copy]-}" ] && ! is_same_text "$copy" "$now"; then
      value=changed
    elif [ "${access[$now]-}" != "${access[$copy]-}" ]; then
      value=access
    fi
    difference[$path]=$value
  done
}

# Prints a short text that differs for every state of a file: PATH.
state_of() { { access_of "$ROOT$1" '%a %u:%g' && read_file "$ROOT$1"; } 2>/dev/null | sha256sum | cut -c 1-12; }

# Finds the managed files that differ from their copies, and describes them for the annotation. While work is unfinished
# they differ because of it, so what was found before it counts.
drifted=() drift_words=none
look() {
  local path
  is_touched || true
  if ! is_at_work; then compare_copies; return; fi
  drifted=()
  while read -r _ path; do drifted+=("$path"); done < <(cat "$folder/kept/drifted" 2>/dev/null)
  describe_drift
}
is_at_work() { case $(cat "$unfinished_file" 2>/dev/null) in "" | no) return 1 ;; esac; }

compare_copies() {
  compare_files
  list_drifted
}

# Lists what the comparison has found, and takes copies of files that have none yet.
list_drifted() {
  local path
  drifted=()
  while read -r path; do
    if [ -n "${difference[$path]-}" ]; then
      drifted+=("$path")
    elif [ -z "${difference[$path]+there}" ] && [ "$mode" != dry-run ]; then
      keep "$path"
    fi
  done < <(list_managed)
  describe_drift
}

describe_drift() {
  local path words="" more=0
  drift_words=none
  if [ ${#drifted[@]} -eq 0 ]; then return 0; fi
  for path in "${drifted[@]}"; do
    if [[ $path =~ ^[A-Za-z0-9./_@:+=,~-]+$ ]] && [ $((${#words} + ${#path})) -lt 800 ]; then words+=" $path"; else more=$((more + 1)); fi
  done
  if [ "$more" -gt 0 ]; then words+=" +$more"; fi
  drift_words="$(for path in "${drifted[@]}"; do printf '%s %s\n' "$(state_of "$path")" "$path"; done | sha256sum | cut -c 1-12)$words"
}

# Tells whether a managed file was written since the last call. One call of stat, so that it can be asked often.
glance=""
is_touched() {
  local now
  now=$(list_managed | sed "s|^|$ROOT|" | xargs -d '\n' stat --dereference --format='%n %i %s %Z' 2>/dev/null)
  if [ "$now" = "$glance" ]; then return 1; fi
  glance=$now
}

# Records what differs before the agent's own work, so that what the work leaves alone is still a difference after it.
remember_drift() {
  local path
  if [ "$mode" = dry-run ]; then return 0; fi
  mkdir -p "$folder/kept"
  for path in "${drifted[@]}"; do printf '%s %s\n' "$(state_of "$path")" "$path"; done >"$folder/kept/drifted"
}

# Takes new copies of what the agent's own work has written, and lists what others changed.
keep_own_work() {
  local path state
  local -A before=()
  if [ "$mode" = dry-run ]; then return 0; fi
  while read -r state path; do before[$path]=$state; done < <(cat "$folder/kept/drifted" 2>/dev/null)
  compare_files
  for path in "${!difference[@]}"; do
    if [ -z "${difference[$path]}" ]; then continue; fi
    if [ -n "${before[$path]-}" ] && [ "${before[$path]}" = "$(state_of "$path")" ]; then continue; fi
    keep "$path"
    difference[$path]=""
  done
  list_drifted
}

# Keeps what a repair replaces: PATH.
keep_replaced() {
  local replaced=$folder/replaced$1
  if [ ! -f "$ROOT$1" ] || [ -z "${difference[$1]-}" ]; then return 0; fi
  mkdir -p "${replaced%/*}"
  copy_file "$ROOT$1" "$replaced" || say "$1 is not a regular file, so nothing is kept of it"
}

# Puts a managed file back as its copy is: PATH.
put_back() {
  local copy changed
  copy=$(copy_of "$1")
  if [ -e "$copy" ]; then put_file "$copy" "$ROOT$1"; else remove_path "$ROOT$1"; fi
}

has_drifted() { [[ " ${drifted[*]-} " == *" $1"* ]]; }

# Puts back what others changed, and restarts what reads it. Static pods last but the kubelet, which runs them.
repair_drift() {
  local path name manifest files="" restarts=()
  compare_files
  for path in "${drifted[@]}"; do
    if [ "$mode" != dry-run ]; then keep_replaced "$path"; fi
    files+=$path$'\n'
    name=$(basename "$path" .yaml)
    if [[ $path == /etc/kubernetes/manifests/* ]] && [ -e "$(copy_of "$path")" ] && ! is_same_text "$(copy_of "$path")" "$ROOT$path"; then
      restarts+=("$name")
    else
      act "put back $path" attempt "put back $path" put_back "$path" || { end_if_fixed; return 1; }
    fi
  done
  if has_drifted /etc/sysctl.d/; then
    act "load the kernel settings" attempt "load the kernel settings" sysctl --quiet --ignore --load="$ROOT/etc/sysctl.d/90-foresail.conf" || return 1
  fi
  if has_drifted /usr/local/share/ca-certificates/; then
    act "update the CA certificates" attempt "update the CA certificates" update-ca-certificates --fresh || return 1
  fi
  act "load the units" attempt "load the units" systemctl daemon-reload || return 1
  if has_drifted /etc/containerd/config.toml || has_drifted /etc/systemd/system/containerd.service.d/ || has_drifted /usr/local/share/ca-certificates/; then
    act "restart containerd" attempt "restart containerd" restart_unit containerd || return 1
  fi
  for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
    manifest=/etc/kubernetes/manifests/$name.yaml
    if [[ " ${restarts[*]-} " == *" $name "* ]]; then
      act "restart $name" restart_static_pod "$name" "$ROOT$manifest" "$(copy_of "$manifest")" || return 1
    elif [ -e "$ROOT$manifest" ] && mounts_any "$ROOT$manifest" "${files%$'\n'}"; then
      act "restart $name" restart_static_pod "$name" "$ROOT$manifest" "$ROOT$manifest" || return 1
    fi
  done
  act "restart the kubelet, and wait until the Node is Ready" restart_kubelet_of_ready_node
}

# Prints each difference for foresail: how, then the path in base64, and of the copy and of the file its permissions and its
# text in base64; - for no file, and for a text that is too large, alone or with those before it.
print_drift() {
  local path copy now left=4194304
  if is_at_work; then echo at-work; return 0; fi
  compare_copies
  for path in "${drifted[@]}"; do
    copy=$(encoded "$(copy_of "$path")" "$left")
    left=$((left - ${#copy}))
    now=$(encoded "$ROOT$path" "$left")
    left=$((left - ${#now}))
    printf '%s %s %s %s\n' "${difference[$path]}" "$(printf '%s' "$path" | base64 -w 0)" "$copy" "$now"
  done
}

# Prints the permissions and the text of a file: PATH, MOST-BYTES.
encoded() {
  local size
  if ! is_there "$1"; then printf -- '- -'; return 0; fi
  access_of "$1" '%a,%U:%G' | tr '\n' ' '
  size=$(access_of "$1" %s)
  if [ "$size" -gt 262144 ] || [ "$size" -gt "$2" ]; then
    printf '%s' -
  elif read_file "$1" >/dev/null; then
    read_file "$1" | unmarked | base64 -w 0
  else
    echo "($(stat --format=%F "$1") that foresail does not read, since others may write in this folder)" | base64 -w 0
  fi
}

# Takes a managed file as it is now for the one that foresail wrote: PATH.
accept_drift() {
  if is_at_work; then say "the node agent is at work; try again when it has ended"; return 75; fi
  # without -q, which would end before the list does
  if ! list_managed | grep -xF -- "$1" >/dev/null; then say "foresail does not manage $1 on this machine"; return 65; fi
  keep "$1" || return 65
}
