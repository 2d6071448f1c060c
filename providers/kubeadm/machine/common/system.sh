# shellcheck shell=bash
# Functions of every step, of the node agent and of its installers.

# The variables of a proxy. systemd's own environment may have them (DefaultEnvironment), for every unit.
# shellcheck disable=SC2034 # files of functions read it
PROXY_NAMES="HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy ftp_proxy all_proxy no_proxy"

# Ends the step: MESSAGE [EXIT_CODE].
fail() {
  printf '%s\n' "$1"
  exit "${2:-1}"
}

# Writes a line of progress to the log, and to the caller if there is one: WORDS.
progress() {
  printf '%s\n' "$1"
  { printf '%s\n' "$1" >&3; } 2>/dev/null || true
}

await_containerd() {
  timeout 60 bash -c 'until ctr version >/dev/null 2>&1; do sleep 0.2; done' ||
    fail "containerd did not answer within 60 seconds; look at: journalctl -u containerd"
}

# Restarts a unit: NAME. Prints why, and returns 65, when systemd keeps refusing to start it: waiting changes neither a broken unit
# nor a command that fails before the program. What systemd starts again by itself counts as started.
restart_unit() {
  local process since words restarts state
  process=$(systemctl show --property=MainPID --value "$1" || true)
  since=$(date +%s)
  if words=$(systemctl restart "$1" 2>&1); then return 0; fi
  restarts=$(systemctl show --property=NRestarts --value "$1" || true)
  for _ in $(seq 40); do
    # a unit that can't be loaded goes on with its former process
    if [ "$(systemctl show --property=MainPID --value "$1" || true)" = "$process" ] && [ "${process:-0}" != 0 ]; then break; fi
    sleep 1
    state=$(systemctl show --property=ActiveState,SubState,NRestarts "$1" | sed 's/^[A-Za-z]*=//' | sort | xargs || true)
    case $state in
    *" active "*) return 0 ;;
    *failed* | *inactive*) break ;;
    *auto-restart*) if [ "${state%% *}" -ge $((${restarts:-0} + 2)) ]; then break; fi ;;
    esac
  done
  echo "systemd does not start $1 ($(refusal_of "$1" "$since" "$words"))"
  return 65
}

# Prints why systemd refused the last start of a unit, and what its programs said: NAME SECONDS (since when) WORDS (of systemctl).
refusal_of() {
  journalctl --unit "$1" --since "@$2" --output short-unix --no-pager --quiet 2>/dev/null | sed -E 's/^[^ ]+ [^ ]+ //' |
    awk -v words="${3%%$'\n'*}" '
      # while systemd tries again, the last try tells the reason
      /^systemd\[[0-9]+\]: Start(ing|ed) / { if (why) { last_why = why; last_said = said } why = said = ""; next }
      /^systemd\[[0-9]+\]: / { if (/ process exited/) why = $0; next }
      { said = $0 }
      END { if (!why) { why = last_why; if (why) said = last_said } sub(/^[^ ]+: /, "", why); sub(/^[^ ]+: /, "", said); print (why ? why : words) (said ? "; its last words: " said : "") }' |
    tr -cd '[:print:]' | cut -c 1-500
}

# Prints the installed package that provides containerd, such as that of Docker's vendor; without one, the distribution's.
containerd_package() {
  local name
  # shellcheck disable=SC2016 # dpkg-query fills it in
  name=$(dpkg-query --show --showformat='${db:Status-Status}, ${Package}, ${Provides}\n' 2>/dev/null | sed -nE '/^installed, .*[ ,]containerd( \(|,|$)/s/^installed, ([^,]+),.*/\1/p' | head -n 1)
  printf '%s' "${name:-containerd}"
}

# Root's work on files in folders in which other users may write, such as their homes. Such a user can at any moment put a
# symbolic link, a named pipe or another file in the place of a name there. So root enters a folder, component by component,
# and then names only entries of the current folder, which no rename changes. New content is made in a folder of root alone
# within it, and moved to its name. Each function prints why it fails and returns 1.

# Tells whether only root, or who runs this, may change where a folder's path leads: FOLDER. A folder that does not exist
# counts as its parent.
is_roots_alone() {
  local path=$1 owner mode shared=no folders=()
  while [ -n "$path" ]; do
    folders=("$path" "${folders[@]}")
    path=${path%/*}
  done
  while read -r owner mode; do
    mode=$((16#$mode))
    # a link may be one of root, but not what it leads to
    if [ "$owner" != 0 ] && [ "$owner" != "$EUID" ] || [ $((mode & 0170000)) -ne $((0040000)) ]; then return 1; fi
    shared=no
    if [ $((mode & 0022)) -ne 0 ]; then
      # in a folder like /tmp, other users can't replace what root has there
      if [ $((mode & 01000)) -eq 0 ]; then return 1; fi
      shared=yes
    fi
  done < <(stat --format='%u %f' -- / "${folders[@]}" 2>/dev/null)
  [ "$shared" = no ]
}

# Tells whether others than root, or who runs this, may change the entries of the current folder.
is_shared_folder() {
  local owner mode
  read -r owner mode < <(stat --format='%u %f' .)
  { [ "$owner" != 0 ] && [ "$owner" != "$EUID" ]; } || [ $((16#$mode & 0022)) -ne 0 ]
}

# Makes a folder the current one, for a subshell: FOLDER yes|no (whether to create what is missing; else it returns 2).
# Follows only symbolic links that only root can have made.
enter_folder() {
  local rest=$1/ name here=/ link links=0
  cd / || return 1
  while [ -n "$rest" ]; do
    name=${rest%%/*} rest=${rest#*/}
    if [ -z "$name" ] || [ "$name" = . ]; then continue; fi
    if [ -L "./$name" ]; then
      if is_shared_folder; then
        echo "${here%/}/$name is a symbolic link, and others than root may change it; foresail follows none of those: use the path that it leads to, or let only root write in $here"
        return 1
      fi
      links=$((links + 1))
      if [ "$links" -gt 40 ]; then echo "$1 leads through too many symbolic links"; return 1; fi
      link=$(readlink -- "./$name") || return 1
      rest=$link/$rest
      if [[ $link == /* ]]; then cd / && here=/; fi
      continue
    fi
    if [ ! -e "./$name" ]; then
      if [ "$2" = no ]; then return 2; fi
      # another one may have created it meanwhile, which the next lines look at
      mkdir -- "./$name" 2>/dev/null || true
    fi
    if ! cd -P -- "./$name" 2>/dev/null; then echo "${here%/}/$name is not a folder"; return 1; fi
    link=$(readlink /proc/self/cwd)
    if [ "$name" != .. ] && [ "$link" != "${here%/}/$name" ]; then
      echo "${here%/}/$name was replaced while foresail entered it; nothing was written there"
      return 1
    fi
    here=$link
  done
}

# Prints a regular file of the current folder, and neither what a link leads to nor another name of a file: ./NAME.
read_entry() {
  local links mode
  read -r links mode < <(stat --format='%h %f' -- "$1" 2>/dev/null) || return 1
  [ "$links" = 1 ] && [ $((16#$mode & 0170000)) -eq $((0100000)) ] || return 1
  # a user who fills the folder does not fill root's memory or disk
  dd if="$1" iflag=nofollow,nonblock,fullblock bs=1M count=16 status=none 2>/dev/null
}

# Replaces a file atomically by standard input, unless it is so already: NEW (a name for it in a folder that only root can
# change) FILE MODE OWNER. Sets `changed` to yes when its text differs.
replace_entry() {
  cat >"$1" || return 1
  # another owner clears setuid and setgid
  if [ -n "$4" ]; then chown "$4" "$1" || return 1; fi
  chmod "$3" "$1" || return 1
  if [ ! -f "$2" ] || [ -L "$2" ] || ! cmp --silent "$1" <(read_entry "$2"); then
    # shellcheck disable=SC2034 # callers read it
    changed=yes
  elif [ "$(stat --format='%a %u %g %f' -- "$1" "$2" | uniq | wc -l)" = 1 ]; then
    rm -f -- "$1"
    return 0
  fi
  mv -f -T -- "$1" "$2"
}

# Does the same in the current folder, in which others may write: NAME MODE OWNER.
replace_shared_entry() {
  local scratch here
  here=$(readlink /proc/self/cwd)
  # a kill leaves its folder
  rm -rf --one-file-system ./.foresail-new.??????
  scratch=$(mktemp --directory ./.foresail-new.XXXXXX) || return 1
  # its own folder and no other: what is in one of root alone can't be replaced
  if ! cd -P -- "$scratch" || [ "$(readlink /proc/self/cwd)" != "${here%/}/${scratch#./}" ] || is_shared_folder; then
    echo "$here: a folder of foresail was replaced there, and nothing was written"
    return 1
  fi
  if ! replace_entry ./new "../$1" "$2" "$3"; then
    echo "${here%/}/$1 could not be written"
    rm -f ./new
    return 1
  fi
  if cd -P ..; then rmdir -- "$scratch" 2>/dev/null || true; fi
}

# Records a file before foresail writes it for the first time, and the folders that it makes, for the reset of the machine:
# PATH. What can't be copied is not on record, so that a reset leaves it alone.
record_file() {
  local folder=${1%/*} missing="" copy=$BEFORE_PATH/files$1
  # the last of a whole record of this kind
  if [ ! -e "$BEFORE_PATH/pods" ] || [[ $1 == /var/lib/foresail/* ]] || grep -qsxF -- "$1" "$BEFORE_PATH/paths"; then return 0; fi
  until [ -z "$folder" ] || is_there "$folder"; do
    missing=$folder/$'\n'$missing
    folder=${folder%/*}
  done
  if is_there "$1"; then
    mkdir -p "${copy%/*}"
    if [ -L "$1" ] && is_roots_alone "${1%/*}"; then
      cp --archive --no-dereference --remove-destination -- "$1" "$copy"
    else
      copy_file "$1" "$copy"
    fi || { echo "$1 is not a regular file, so nothing is kept of it"; return 0; }
  fi
  printf '%s%s\n' "$missing" "$1" >>"$BEFORE_PATH/paths"
}

# Replaces a file by standard input atomically: PATH MODE [OWNER]. Sets `changed` to yes only when its text differs. Does not
# touch a file that is as it should be: systemd would ask for a reload of all units.
replace_file() {
  local folder=${1%/*} name=${1##*/} owner=${3-} status=0
  if is_roots_alone "$folder"; then
    # other users need access to the parent folder, so it is not only for root
    (umask 022; mkdir -p -- "$folder/") || return 1
    # the kubelet and others ignore files with a dot
    replace_entry "$folder/.$name.foresail-new" "$1" "$2" "$owner"
    return
  fi
  (
    changed=no
    umask 022
    enter_folder "$folder" yes || exit 1
    umask 077
    replace_shared_entry "$name" "$2" "$owner" || exit 1
    if [ "$changed" = yes ]; then exit 3; fi
  ) || status=$?
  # shellcheck disable=SC2034 # callers read it
  if [ "$status" = 3 ]; then changed=yes; elif [ "$status" != 0 ]; then return 1; fi
}

# Does the same for a file of foresail, and records what was there before it: PATH MODE [OWNER].
write_file() {
  record_file "$1"
  replace_file "$@"
}

# Replaces a file by another one, with its owner and mode, to give it back: FROM (a file of root) PATH.
# shellcheck disable=SC2094 # stat does not read the file
put_file() { replace_file "$2" "$(stat --dereference --format=%a -- "$1")" "$(stat --dereference --format=%u:%g -- "$1")" <"$1"; }

# Tells whether there is an entry, which may be a link that leads nowhere: PATH.
is_there() { [ -e "$1" ] || [ -L "$1" ]; }

# Removes a file, or a folder with everything in it, and follows no link: PATH.
remove_path() {
  local folder=${1%/*} status=0
  if is_roots_alone "$folder"; then
    rm -rf -- "$1"
    return
  fi
  (enter_folder "$folder" no || exit; rm -rf --one-file-system -- "./${1##*/}") || status=$?
  # without the folder, there is nothing to remove
  [ "$status" = 0 ] || [ "$status" = 2 ]
}

# Prints a file, unless it is one that others made out of a link, a pipe or another name of a file: PATH.
read_file() {
  if is_roots_alone "${1%/*}"; then cat -- "$1"; else (enter_folder "${1%/*}" no >&2 && read_entry "./${1##*/}"); fi
}

# Copies a file with its owner and mode to a folder of root: FROM TO. Fails, and leaves none, like read_file.
copy_file() {
  local access
  rm -f -- "$2"
  if is_roots_alone "${1%/*}"; then
    cp --archive --dereference -- "$1" "$2"
    return
  fi
  (
    enter_folder "${1%/*}" no >&2 || exit 1
    access=$(stat --format='%u:%g %a' -- "./${1##*/}") && read_entry "./${1##*/}" >"$2" && cmp --silent "./${1##*/}" "$2" && chown "${access% *}" "$2" && chmod "${access#* }" "$2"
  ) || { rm -f -- "$2"; return 1; }
}

# Prints the line of a log that says most about the end of a program of Kubernetes.
last_words() {
  local lines
  lines=$(sed -E 's/^[0-9TZ:.+-]+ std(out|err) [FP] //' | grep . | tail -n 200)
  { grep -E '^(Error|panic|F[0-9]{4}|E[0-9]{4}.*(command failed|Failed to start|Failed to listen|failed to run))' <<<"$lines" || grep -E '^E[0-9]{4}' <<<"$lines" || printf '%s\n' "$lines"; } |
    tail -n 1 | tr -cd '[:print:]' | cut -c 1-500
}
