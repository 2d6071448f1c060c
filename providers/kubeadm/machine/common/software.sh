# shellcheck shell=bash
# Functions of everything that installs software. Parameters: VERSION, IMAGE_REPOSITORY (empty for the default)

# Runs apt-get. Waits for every lock that a new machine's own updates may keep.
apt_get() { await_lock apt-get --yes --quiet "$@"; }

# Finishes what a killed installation left, with the configuration files as they are.
configure_packages() { await_lock dpkg --force-confold --configure -a; }

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

# Lists the images that a kubeadm needs: KUBEADM.
list_images() {
  "$1" config images list --kubernetes-version "v$VERSION" ${IMAGE_REPOSITORY:+"--image-repository=$IMAGE_REPOSITORY"} 2>/dev/null
}

# Prints the pause image of this version.
pause_image() { list_images kubeadm | grep '/pause:'; }

# Lets containerd start new pods with this version's pause image, unless it does so already: a bundle has no other one.
use_pause_image() {
  local pause changed=no configuration=/etc/containerd/config.toml
  [ -e "$configuration" ] || return 0
  pause=$(pause_image)
  write_file "$configuration" 0600 <<<"$(sed -E "s|^( *sandbox_image = ).*|\1\"$pause\"|" "$configuration")"
  if [ "$changed" = yes ]; then
    systemctl restart containerd
    await_containerd
  fi
}
