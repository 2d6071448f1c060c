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
