# shellcheck shell=bash
# Functions of everything that installs software. Parameters: VERSION, IMAGE_REPOSITORY (empty for the default)

# Runs apt-get. Waits for dpkg's lock, which a new machine's own updates may keep for a while.
apt_get() { apt-get --yes --quiet -o DPkg::Lock::Timeout=300 "$@"; }

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
