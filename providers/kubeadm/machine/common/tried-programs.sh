# shellcheck shell=bash
# Tries programs of Kubernetes with files that a change will write, for a preview: each program of this machine runs for a
# moment, without a network, and sees the files in a view in which it can write nothing. Answers a line
# "refused PROGRAM WORDS", the words in base64, for each program that ends with its new files and not with those that it has.
# Variables of the caller: folder (in memory, removed by the caller), expected (folder with the new files), rendered (folder
# with what kubeadm writes), removed (paths of files), answered (paths of files that change).
# shellcheck disable=SC2154

# How long a program may take to end, in seconds. One that does not accepts its files.
TRY_SECONDS=12
# How long one may go on that asks for etcd, for which it has no network: it has read its files.
DIALING_SECONDS=2
# What a program may say without its network and its rights, and of a machine that is as it is.
NOT_OF_SETTINGS='connection refused|deadline exceeded|timed? ?out|no route to host|network is unreachable|no such host|read-only file system|permission denied|address already in use|cannot assign requested address|too many open files|cannot allocate memory|not permitted'

# Tells whether a program's words are about the machine or about how it is tried, and not about its settings: WORDS.
is_of_machine() { grep -qiE "$NOT_OF_SETTINGS" <<<"$1"; }

has_programs() {
  local program
  for program; do command -v "$program" >/dev/null || return 1; done
}

# Prints the words with which a program of Kubernetes or etcd has ended, which writes JSON or what Go says of its flags: LOG.
last_error() {
  { grep -E '^(Error|panic|F[0-9]{4}|E[0-9]{4}.*command failed|flag provided but not|invalid (boolean )?value |\{"level":"fatal"|\{.*"msg":"failed to verify flags")' "$1" || true; } | tail -n 1 |
    sed -E 's/^[EF][0-9]{4} [^]]*\] *//; s/^"command failed" err=//; s/^\{.*"error":"(([^"\\]|\\.)*)".*/\1/; t etcd; b; :etcd s/\\"/"/g' | tr -cd '[:print:]' | cut -c 1-500
}

# Prints a static pod's command, mounts and volumes, one a line with values in quotes, and what run_program does not know: MANIFEST.
read_manifest() {
  # shellcheck disable=SC2016 # a Go template
  local template='{{with index .spec.containers 0}}{{range .command}}argument {{printf "%q" .}}{{"\n"}}{{end}}
{{- if .args}}unknown{{"\n"}}{{end}}{{range .volumeMounts}}{{if .subPath}}unknown{{"\n"}}{{end}}mount {{printf "%q %q" .name .mountPath}}{{"\n"}}{{end}}{{end}}
{{- range .spec.volumes}}{{if .hostPath}}volume {{printf "%q %q" .name .hostPath.path}}{{"\n"}}{{end}}{{end}}'
  kubectl annotate --local --overwrite --filename "$1" foresail/read=yes --output "go-template=$template" 2>/dev/null || echo unknown
}

# Tells whether a change writes or removes a file below a path: PATH.
is_changed_below() {
  local path
  if [ -e "$expected$1" ]; then return 0; fi
  for path in "${removed[@]}"; do if [[ $path/ == "$1"/* ]]; then return 0; fi; done
  return 1
}

# Puts a file or folder of this machine, as it will be or as it is, into a view: HOST_PATH VIEW_PATH NEW (yes or no). Fails for
# a folder that is too large for a copy.
show_path() {
  local path
  if [ "$3" = yes ] && [ -f "$expected$1" ]; then
    mkdir -p "$(dirname "$2")"
    cp "$expected$1" "$2"
  elif [ "$3" = yes ] && [ -d "$1" ] && is_changed_below "$1"; then
    [ "$(du --summarize --block-size=1M "$1" | cut -f 1)" -le 16 ] || return 1
    mkdir -p "$2"
    cp --recursive --dereference "$1/." "$2"
    for path in "${removed[@]}"; do if [[ $path == "$1"/* ]]; then rm -f "$2/${path#"$1"/}"; fi; done
    if [ -d "$expected$1" ]; then cp --recursive "$expected$1/." "$2"; fi
  elif [ -d "$1" ]; then
    mkdir -p "$2"
    mount --bind "$1" "$2" && mount --options remount,bind,ro "$2"
  elif [ -f "$1" ]; then
    mkdir -p "$(dirname "$2")"
    : >"$2"
    mount --bind "$1" "$2" && mount --options remount,bind,ro "$2"
  elif [ "$3" = yes ] && [ -d "$expected$1" ]; then
    mkdir -p "$2"
    cp --recursive "$expected$1/." "$2"
  fi
}

# Runs the program of a static pod with a manifest, in namespaces of its own: PROGRAM PROCESS MANIFEST NEW LOG. Exit code 137 when it
# accepts its files, 99 when it can't be tried.
run_program() {
  local kind value name path view=$folder/view-$4-$1
  local -A host=()
  local arguments=() mounts=()
  while read -r kind value; do
    value=${value#\"} value=${value%\"}
    name=${value%%\" \"*} path=${value#*\" \"}
    case $kind in
    argument) if [[ $value == --audit-log-path=* ]]; then value=--audit-log-path=-; fi; arguments+=("$value") ;;
    mount) mounts+=("$path $name") ;;
    volume) host[$name]=$path ;;
    *) return 99 ;;
    esac
  done < <(read_manifest "$3")
  if [[ "${arguments[*]} ${mounts[*]}" == *\\* ]] || [ "${arguments[0]-}" != "$1" ]; then return 99; fi
  mkdir -p "$view/proc" "$view/tmp"
  mount --rbind /proc "$view/proc" || return 99
  while read -r path name; do
    if [ -n "${host[$name]-}" ]; then show_path "${host[$name]}" "$view$path" "$4" || return 99; fi
  done < <(printf '%s\n' "${mounts[@]}" | sort)
  ip link set lo up || return 99
  exec 8<"/proc/$2/exe" || return 99
  # if memory is short, this one ends and no other
  echo 1000 >/proc/self/oom_score_adj
  nice -n 5 chroot "$view" /proc/self/fd/8 "${arguments[@]:1}" >"$5" 2>&1 </dev/null &
  end_with_files $! "$5"
}

# Waits until a program has ended, or has read its files, and ends it: PROCESS LOG. Exit code as of run_program.
end_with_files() {
  local end=$((SECONDS + TRY_SECONDS)) dialing=""
  while kill -0 "$1" 2>/dev/null && [ "$SECONDS" -lt "$end" ]; do
    if [ -z "$dialing" ] && grep -q 'Error while dialing' "$2"; then dialing=yes end=$((SECONDS + DIALING_SECONDS)); fi
    sleep 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null
}

# Prints the first process of a program: PROGRAM. That other processes end meanwhile does not matter.
process_of() { { grep -lx "${1:0:15}" /proc/[0-9]*/comm 2>/dev/null || true; } | head -n 1 | cut -d / -f 3; }

# Tries a static pod's program with its new manifest and files: PROGRAM.
try_static_pod() {
  local name=$1 process status=0 log=$folder/$1.log words
  process=$(process_of "$name")
  if [ -z "$process" ] || ! has_programs unshare kubectl ip; then return 0; fi
  in_namespaces "$name" "$process" "$rendered/$name.yaml" yes "$log" || status=$?
  if [ "$status" = 137 ] || [ "$status" = 99 ] || [ ! -e "$log" ]; then return 0; fi
  words=$(last_error "$log")
  if [ -z "$words" ] || is_of_machine "$words"; then return 0; fi
  # what it says of the files that it runs with is not a fault of the change
  status=0
  in_namespaces "$name" "$process" "/etc/kubernetes/manifests/$name.yaml" no "$log" || status=$?
  if [ "$status" = 137 ] || is_of_machine "$(last_error "$log")"; then answer_refusal "$name" "$words"; fi
}

# Runs a try in namespaces for mounts and the network: those of run_program.
in_namespaces() {
  # the functions and variables of a bash of its own
  {
    declare -f run_program end_with_files read_manifest show_path is_changed_below
    declare -p folder expected removed TRY_SECONDS DIALING_SECONDS
    echo 'set -u; run_program "$@"'
  } >"$folder/try-$1.sh"
  unshare --mount --net --propagation private bash "$folder/try-$1.sh" "$@" </dev/null
}

# Runs a program with a configuration, and prints the words with which it ends: FILE PROGRAM [ARGUMENT...]. As a user without
# rights, it checks its configuration and does nothing.
words_without_rights() {
  local copy=$folder/tried.yaml log=$folder/tried.log program=$2
  cp "$1" "$copy"
  command chmod 0644 "$copy"
  shift 2
  # bash itself says that a program was killed
  {
    timeout --signal KILL "$TRY_SECONDS" setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$program" --config /proc/self/fd/7 "$@" \
      7<"$copy" >"$log" 2>&1 </dev/null || true
  } 2>/dev/null
  last_error "$log"
}

# Tries the kubelet with a configuration: FILE.
kubelet_words() {
  words_without_rights "$1" kubelet --kubeconfig /nonexistent |
    grep -E 'failed to (validate|load) kubelet config|initialize logging|failed to set feature gates|unrecognized feature gate|cannot set feature gate' || true
}

# Tries kube-proxy with a configuration: FILE. File descriptor 8 is its program. Other words come after it has checked that.
kube_proxy_words() { words_without_rights "$1" /proc/self/fd/8 | grep -E '^"?failed (complete|validate): ' || true; }

# Tries the kube-proxy that runs on this machine with its new configuration, unless it refuses that of today as well: FILE.
try_kube_proxy() {
  local process words current=$folder/current-proxy.conf
  process=$(process_of kube-proxy)
  if [ -z "$process" ] || ! has_programs setpriv; then return 0; fi
  cat "/proc/$process/root/var/lib/kube-proxy/config.conf" >"$current" 2>/dev/null || return 0
  { exec 8<"/proc/$process/exe"; } 2>/dev/null || return 0
  words=$(kube_proxy_words "$1")
  if [ -n "$words" ] && ! is_of_machine "$words" && [ -z "$(kube_proxy_words "$current")" ]; then answer_refusal kube-proxy "$words"; fi
  exec 8<&-
}

# Prints the fields of a kubelet's configuration that name files, with the files: CONFIGURATION.
files_of_kubelet() { sed -nE 's/^ *(clientCAFile|tlsCertFile|tlsPrivateKeyFile|resolvConf): *"?(\/[^"]*[^" ])"? *$/\1 \2/p' "$1"; }

# Tells whether this machine will have a file: PATH.
will_be_there() {
  local path
  if [ -e "$expected$1" ]; then return 0; fi
  for path in "${removed[@]}"; do if [ "$path" = "$1" ]; then return 1; fi; done
  [ -e "$1" ]
}

# Prints which file the kubelet's new configuration names that will not be there, if any. As a user without rights, the kubelet
# ends before it reads them. One that is missing already, and named, is not a fault of the change.
missing_file() {
  local field path
  while read -r field path; do
    if will_be_there "$path"; then continue; fi
    if [ ! -e "$path" ] && files_of_kubelet /var/lib/kubelet/config.yaml | grep -qxF -- "$field $path"; then continue; fi
    echo "$field: open $path: no such file or directory"
    return 0
  done < <(files_of_kubelet "$rendered/config.yaml")
}

# Tries the kubelet of this machine with its new configuration.
try_kubelet() {
  local words
  words=$(missing_file)
  if [ -n "$words" ]; then answer_refusal kubelet "$words"; return 0; fi
  if ! has_programs setpriv kubelet; then return 0; fi
  words=$(kubelet_words "$rendered/config.yaml")
  if [ -z "$words" ] || is_of_machine "$words"; then return 0; fi
  if [ -z "$(kubelet_words /var/lib/kubelet/config.yaml)" ]; then answer_refusal kubelet "$words"; fi
}

# Tells whether a change concerns a static pod: its manifest, or a file that it mounts: PROGRAM.
is_affected() {
  local mounted path
  if ! cmp --silent "$rendered/$1.yaml" "/etc/kubernetes/manifests/$1.yaml"; then return 0; fi
  while read -r mounted; do
    for path in "${answered[@]}"; do if [[ $path/ == "$mounted"/* ]]; then return 0; fi; done
  done < <(sed -n 's/^ *path: *//p' "$rendered/$1.yaml")
  return 1
}

# Tries every program of this machine that a change concerns, at the same time.
try_programs() {
  local name
  try_kubelet
  for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
    if [ -e "$rendered/$name.yaml" ] && is_affected "$name"; then try_static_pod "$name" >"$folder/tried-$name" & fi
  done
  wait
  cat "$folder"/tried-* 2>/dev/null || true
}

answer_refusal() { printf 'refused %s %s\n' "$1" "$(printf '%s' "$2" | base64 --wrap 0)"; }
