# shellcheck shell=bash
# needs: common/software
# Updates of the distribution's packages, for the installer of os-updates.
# Parameters: VERSION (all or security; with -without-reboot where the machine is not rebooted)

fetch_lists() {
  command -v apt-get || fail "this machine has no apt-get, and foresail updates only Debian and Ubuntu"
  timeout --kill-after=5 120 apt-get --yes --quiet update
}

# Prints what apt would install, as PACKAGE VERSION ORIGIN: ARGUMENT... (those of apt-get).
planned() {
  local plan
  plan=$(apt-get --yes --quiet --simulate "$@" 2>&1) || fail "apt-get: $(grep '^E: ' <<<"$plan" | tr -s '[:space:]' ' ')"
  sed -nE 's/^Inst ([^ ]+)( \[[^]]*\])? \(([^ ]+) ?(.*)\).*$/\1 \3 \4/p' <<<"$plan"
}

# Lists the pending updates, PACKAGE=VERSION of each, and "reboot" when the machine asks for one. Packages on hold stay as
# they are, and so do those of Kubernetes. An installation that was interrupted is pending, too.
list_updates() {
  local plan name to origin wanted=()
  command -v apt-get >/dev/null || fail "this machine has no apt-get, and foresail updates only Debian and Ubuntu"
  plan=$(planned upgrade --with-new-pkgs) || fail "$plan"
  while read -r name to origin; do
    case $name in "" | kubeadm | kubelet | kubectl) continue ;; esac
    # Debian names its archive of security updates by the label, and Ubuntu by the suite
    if [[ $VERSION == security* ]] && ! grep -qE 'Debian-Security:|-security([ ,]|$)' <<<"$origin"; then continue; fi
    wanted+=("$name=$to")
  done <<<"$plan"
  if [ ${#wanted[@]} -gt 0 ]; then plan=$(planned --no-remove --no-install-recommends install "${wanted[@]}") || fail "$plan"; else plan=""; fi
  {
    # shellcheck disable=SC2016 # dpkg-query fills it in
    dpkg-query --show --showformat='${db:Status-Abbrev} ${Package}=${Version}\n' | sed -nE 's/^i[UFH] +//p'
    while read -r name to origin; do if [ -n "$name" ]; then echo "$name=$to"; fi; done <<<"$plan"
  } | sort -u
  if [[ $VERSION != *-without-reboot ]] && [ -e /run/reboot-required ] && ! systemd-detect-virt --container --quiet; then echo reboot; fi
}

# Reads a list of updates into packages: FILE.
read_list() { mapfile -t packages < <(grep -vx reboot "$1"); }

download_updates() {
  local packages
  read_list "$1"
  if [ ${#packages[@]} -gt 0 ]; then apt_get --no-remove --no-install-recommends --download-only install "${packages[@]}"; fi
}

# Installs exactly these versions: FILE. What failed in dpkg would fail again, exit code 65.
install_listed_updates() {
  local packages output status=0 why
  read_list "$1"
  if [ ${#packages[@]} = 0 ]; then return 0; fi
  # the agent would end with apt, which it runs, if it were restarted for another library
  export NEEDRESTART_SUSPEND=1
  if [ ! -e "$1.manual" ]; then
    apt-mark showmanual >"$1.manual.new"
    mv -f "$1.manual.new" "$1.manual"
  fi
  output=$( (configure_packages && install_packages --no-install-recommends "${packages[@]}") 2>&1) || status=$?
  printf '%s\n' "$output"
  # apt takes what is named for what a person wants to have
  printf '%s\n' "${packages[@]%%=*}" | grep -vxF -f "$1.manual" | xargs --no-run-if-empty apt-mark auto || true
  if [ "$status" = 0 ]; then return 0; fi
  why=$(grep -m 1 -A 1 '^dpkg: error' <<<"$output" || grep '^E: ' <<<"$output" || tail -n 1 <<<"$output")
  fail "$(tr -s '[:space:]' ' ' <<<"$why")" "$([ "$status" = 75 ] && echo 75 || echo 65)"
}
