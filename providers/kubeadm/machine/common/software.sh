# shellcheck shell=bash
# Functions of everything that installs software. Parameters: VERSION, IMAGE_REPOSITORY (empty for the default)

# Runs apt-get. Waits for every lock that a new machine's own updates may keep.
apt_get() { await_lock apt-get --yes --quiet "$@"; }

# dpkg asks no question: configuration files that are there stay.
keep_configuration=(-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold)

# Finishes what a killed or refused installation left halfway, with the configuration files as they are.
configure_packages() {
  await_lock dpkg --force-confdef --force-confold --configure -a ||
    fail "packages of this machine are installed halfway, and dpkg can't finish them: $(dpkg --audit | sed -n 's/^ \([^ ]*\).*/\1/p' | xargs); run there: dpkg --configure -a" 78
}

# Prints why an installation is refused, and nothing if it takes nothing of others away: it would remove packages, bring them
# back to an older version, or change them although they are on hold. ARGUMENT... (those of apt-get install).
refusal_of_installation() {
  local plan line name old new asked=" " removed="" older="" held="" holds
  local installation='^Inst ([^ ]+)( \[([^]]*)\])? \(([^ ]+)'
  for name in "$@"; do [[ $name == -* ]] || asked+="${name%%=*} "; done
  # what apt can't plan, the installation itself says
  plan=$(apt-get --yes --quiet --simulate install "$@" 2>&1) || return 0
  holds=$(apt-mark showhold 2>/dev/null || true)
  while read -r line; do
    if [[ $line =~ ^Remv\ ([^ ]+) ]]; then removed+=" ${BASH_REMATCH[1]}"; continue; fi
    [[ $line =~ $installation ]] || continue
    name=${BASH_REMATCH[1]} old=${BASH_REMATCH[3]} new=${BASH_REMATCH[4]}
    if [[ $asked == *" $name "* ]]; then continue; fi
    if [ -n "$old" ] && dpkg --compare-versions "$old" gt "$new"; then older+=" $name"; fi
    if grep -qxF -- "$name" <<<"$holds"; then held+=" $name"; fi
  done <<<"$plan"
  if [ -n "$removed" ]; then
    echo "the installation of${asked% } would remove these packages from this machine:$removed. foresail removes no packages of others, and installed nothing. If nothing needs them, run there: apt-get remove$removed; otherwise use another machine"
  elif [ -n "$older" ]; then
    echo "the installation of${asked% } would bring these packages back to older versions:$older; nothing was installed"
  elif [ -n "$held" ]; then
    echo "the installation of${asked% } would change these packages, which are on hold:$held; nothing was installed. To allow it, run there: apt-mark unhold$held"
  fi
}

# Installs packages, and takes nothing of others away: ARGUMENT... (those of apt-get install).
install_packages() {
  local refusal
  refusal=$(refusal_of_installation "$@")
  [ -z "$refusal" ] || fail "$refusal" 78
  apt_get "${keep_configuration[@]}" --no-remove install "$@"
}

# Runs a command of apt or dpkg again while another program has the lock that it needs, up to 300 s: COMMAND... apt itself
# waits for dpkg's lock only, and not for that of the package lists.
await_lock() {
  local output status holder="" until=$((SECONDS + 300))
  while :; do
    status=0
    output=$("$@" 2>&1) || status=$?
    printf '%s\n' "$output"
    if [ "$status" = 0 ] || ! [[ $output =~ (Could not get lock [^ ]+\. It is held by process [0-9]+ \([^\)]*\)|lock was locked by another process with pid [0-9]+|Could not get lock [^ ]+) ]]; then
      return "$status"
    fi
    if [ "$SECONDS" -ge "$until" ]; then
      fail "${BASH_REMATCH[1]}, and it was not free within 300 s; wait until that program has ended, then run the command again" 75
    fi
    if [ "$holder" != "${BASH_REMATCH[1]}" ]; then progress "waits for the packages' lock: ${BASH_REMATCH[1]}"; fi
    holder=${BASH_REMATCH[1]}
    sleep 1
  done
}

# Makes programs of this script use a proxy: NAME=VALUE...
export_proxy() {
  local variable name
  for variable in "$@"; do
    name=${variable%%=*}
    export "${variable?}" "${name,,}=${variable#*=}"
  done
}

# Lists the images that a kubeadm needs: KUBEADM, or a command that runs it.
list_images() {
  "$@" config images list --kubernetes-version "v$VERSION" ${IMAGE_REPOSITORY:+"--image-repository=$IMAGE_REPOSITORY"} 2>/dev/null
}

# Prints the settings that containerd uses, each with its table before it, without the quotes that releases write differently.
print_effective_containerd() {
  containerd config dump 2>/dev/null | awk '{ gsub(/["\047]/, "") }
    /^ *\[/ { gsub(/[][ ]/, ""); table = $0; next }
    / = / { sub(/^ +/, ""); print table " " $0 }'
}

# Tells whether containerd starts new pods with this image: SETTINGS (that it uses) IMAGE.
uses_pause_image() { grep -E '(^| )sandbox(_image)? = ' <<<"$1" | sed 's/.* = //' | grep -xF -- "$2" >/dev/null; }

# Prints the pause image of this version.
pause_image() { list_images kubeadm | grep '/pause:'; }

# Lets containerd start new pods with this version's pause image, unless it does so already: a bundle has no other one.
use_pause_image() {
  local pause changed=no configuration=/etc/containerd/config.toml
  [ -e "$configuration" ] || return 0
  pause=$(pause_image)
  write_file "$configuration" 0600 <<<"$(sed -E "s|^( *sandbox(_image)? = ).*|\1\"$pause\"|" "$configuration")"
  if [ "$changed" = yes ]; then
    restart_unit containerd
    await_containerd
  fi
  # a file of others may leave the image to containerd
  if ! grep -qE '^ *sandbox(_image)? = ' "$configuration"; then return 0; fi
  uses_pause_image "$(print_effective_containerd)" "$pause" ||
    fail "containerd does not use the pause image $pause, although $configuration names it; a file of its line \"imports\" may set another one"
}
