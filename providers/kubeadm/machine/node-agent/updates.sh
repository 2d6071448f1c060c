# shellcheck shell=bash disable=SC2034,SC2154 # parts of one program
# Reports the pending updates of the operating system, where foresail has staged their installer, and installs those that the
# Node asks for: by a hash of their list, so that nothing else is installed than what a preview listed.

# Prints the path of the installer, or fails.
updates_installer() {
  local one
  for one in "$installers"/os-updates/*; do
    if [ -f "$one" ]; then printf '%s' "$one"; return 0; fi
  done
  return 1
}

hash_of_updates() { if [ -s "$1" ]; then sha256sum <"$1" | cut -c 1-12; else printf none; fi; }

# Tells whether this machine has begun to install what the Node asks for.
has_begun_updates() {
  [ -s "$updates/begun" ] && [ "$(hash_of_updates "$updates/begun")" = "${annotation[${key_desired[os-updates]}]-}" ]
}

# Finds the pending updates, when packages or their lists have changed since the last time. Those that this machine has begun to
# install stay the pending ones until all are installed.
update_words="" pending_updates="" updates_glance=""
find_updates() {
  local installer now
  if [ "$mode" = dry-run ]; then return 0; fi
  if ! installer=$(updates_installer); then update_words="" pending_updates="" updates_glance=""; return 0; fi
  mkdir -p "$updates"
  if has_begun_updates; then describe_updates "$updates/begun"; updates_glance=""; return 0; fi
  # what was previewed stays what is asked for
  if ! is_allowed; then fetch_updates "$installer"; fi
  now=$(stat --format='%n %i %s %.Y' "$installer" "$updates/completed" "$ROOT"/var/lib/dpkg/status "$ROOT"/var/lib/apt/lists \
    "$ROOT"/etc/apt/preferences.d "$ROOT"/run/reboot-required 2>/dev/null)$fetch_failure
  if [ "$now" = "$updates_glance" ]; then return 0; fi
  updates_glance=$now
  read_updates "$installer"
}

# Tells whether apt fetches its lists with the next look.
has_to_fetch() { [ "$next_fetch" = 0 ] && ! is_allowed && updates_installer >/dev/null; }

# Lets apt fetch its lists, at most once an hour: INSTALLER. A run waits for an agent that it has installed to report, and a
# repository may not answer, so that comes first.
next_fetch=0 fetch_failure=""
fetch_updates() {
  if [ "$SECONDS" -lt "$next_fetch" ]; then return 0; fi
  if [ "${annotation[$key_revision]-}" != "$revision" ]; then fetch_failure="the lists of packages are fetched after this report"; return 0; fi
  fetch_failure=""
  next_fetch=$((SECONDS + 3600))
  if bash "$1" fetch </dev/null >"$output" 2>&1; then return 0; fi
  next_fetch=$((SECONDS + 300))
  fetch_failure="the lists of packages could not be fetched: $(last_line)"
}

# An annotation's value is read as Go quotes it.
without_quotes() { tr -d '\042\134'; }

read_updates() {
  local before now
  before=$(hash_of_updates "$updates/pending")
  if ! bash "$1" list </dev/null >"$updates/pending.new" 2>&1; then
    cp "$updates/pending.new" "$output"
    rm -f "$updates/pending.new" "$updates/pending"
    pending_updates="" update_words="unread $(last_line | without_quotes)"
    return 0
  fi
  mv -f "$updates/pending.new" "$updates/pending"
  now=$(hash_of_updates "$updates/pending")
  # the same are pending once more
  if [ "$now" != "$before" ] && [ "$now" = "$(cat "$updates/completed" 2>/dev/null)" ]; then rm -f "$updates/completed"; fi
  describe_updates "$updates/pending"
  if [ -n "$fetch_failure" ]; then update_words="unread $(without_quotes <<<"$fetch_failure")"; fi
}

# Describes a list of updates for the annotation: its hash, that of the completed list, how many they are, "reboot" when the
# machine asks for one and "never" when there will be none, and as many of them as there is room for.
describe_updates() {
  local line words="" count=0 reboot=- completed
  completed=$(cat "$updates/completed" 2>/dev/null)
  if [[ $(updates_installer) == *-without-reboot ]]; then reboot=never; fi
  while read -r line; do
    if [ "$line" = reboot ]; then reboot=reboot; continue; fi
    count=$((count + 1))
    if [ $((${#words} + ${#line})) -lt 800 ] && [[ $line =~ ^[a-z0-9][a-z0-9+.:-]*=[0-9A-Za-z.+:~-]+$ ]]; then words+=" $line"; fi
  done <"$1"
  pending_updates=$(hash_of_updates "$1")
  update_words="$pending_updates ${completed:--} $count $reboot$words"
}

# Installs the updates that the Node asks for, and reboots where they ask for it.
install_updates() {
  local installer list=$updates/begun
  if [ "$mode" = dry-run ]; then say "would install the updates ${wanted[os-updates]}"; return 0; fi
  installer=$(updates_installer)
  if ! has_begun_updates; then
    rm -f "$list"
    updates_glance=""
    find_updates
    if [ "$pending_updates" != "${wanted[os-updates]}" ]; then
      is_final=yes failure="other updates are pending than were asked for; preview them again ($update_words)"
      return 1
    fi
    # a repository may have newer ones by now, and then the lists are fetched again
    act "download the updates ${wanted[os-updates]}" attempt "download the updates" bash "$installer" download "$updates/pending" || { next_fetch=0; return 1; }
    cp "$updates/pending" "$list.new" && mv -f "$list.new" "$list"
  fi
  act "install the updates ${wanted[os-updates]}" attempt "install the updates" bash "$installer" install "$list" || {
    # the next request is for what is left
    if [ "$is_final" = yes ]; then rm -f "$list"; updates_glance=""; fi
    return 1
  }
  reboot_for_updates "$installer" || return 1
  printf '%s' "${wanted[os-updates]}" >"$updates/completed.new" && mv -f "$updates/completed.new" "$updates/completed"
  rm -f "$list" "$list.manual" "$updates/rebooted"
  updates_glance=""
}

# Reboots once where the machine asks for it, and waits until the Node is Ready after it: INSTALLER.
reboot_for_updates() {
  local boot
  boot=$(cat "$ROOT/proc/sys/kernel/random/boot_id" 2>/dev/null)
  if [ -e "$updates/rebooted" ] && { [ "$(cat "$updates/rebooted")" != "$boot" ] || [ ! -e "$ROOT/run/reboot-required" ]; }; then
    kubelet_stopped=$(stat --format=%Y "$updates/rebooted")
    await_ready_node
    return
  fi
  if [[ $1 == *-without-reboot ]] || [ ! -e "$ROOT/run/reboot-required" ] || is_container; then return 0; fi
  printf '%s' "$boot" >"$updates/rebooted"
  act "reboot, as the updates ask for" reboot_machine
}
