# shellcheck shell=bash
# What keeps a machine from becoming a node, as the preview and its preparation ask. Changes nothing.
# Parameters:
#   MACHINE
#   SUPPORTED_SYSTEMS, SYSTEM_NAMES      list of systems as their os-release names them, and the same in words
#   ENDPOINT, NETWORK_PLUGINS            yes or no
#   OWN_NETWORKS                         names of the pod network's files in /etc/cni/net.d; empty if they are not known
#   FILE_PATHS                           list of the paths of the user's files

refuse_unsupported_system() {
  local system
  # shellcheck source=/dev/null
  system=$(. /etc/os-release; echo "$ID $VERSION_ID")
  if ! printf '%s\n' "${SUPPORTED_SYSTEMS[@]}" | grep -qxF -- "$system"; then
    fail "$MACHINE: runs $system; foresail supports $SYSTEM_NAMES" 78
  fi
}

refuse_unsupported_processor() {
  case "$(uname -m)" in
  x86_64 | aarch64) ;;
  *) fail "$MACHINE: has a $(uname -m) processor; foresail supports amd64 and arm64" 78 ;;
  esac
}

# Refuses a network of others: containerd takes the first file of this folder, so pods would be in another network than those
# of the other nodes, on a Node that is ready.
refuse_other_networks() {
  local path others=()
  if [ -z "${OWN_NETWORKS[*]}" ]; then return 0; fi
  for path in /etc/cni/net.d/*; do
    case $path in *.conf | *.conflist | *.json) ;; *) continue ;; esac
    if [[ " ${OWN_NETWORKS[*]} " != *" ${path##*/} "* && " ${FILE_PATHS[*]} " != *" $path "* ]]; then others+=("$path"); fi
  done
  if [ -z "${others[*]}" ]; then return 0; fi
  fail "$MACHINE: ${others[*]} configures another pod network than that of this cluster, and containerd would use it. Nothing was changed. If nothing on this machine needs it, run there: mkdir -p /var/backups/cni; mv ${others[*]} /var/backups/cni/" 78
}

# Refuses a machine whose containerd is of another package than the distribution's, and does not run.
refuse_incomplete_containerd() {
  local package program
  package=$(containerd_package)
  if [ "$package" = containerd ]; then return 0; fi
  for program in containerd ctr runc; do
    command -v "$program" >/dev/null ||
      fail "$MACHINE: the package $package provides containerd on this machine, but there is no program $program; nothing was changed. Repair it there: apt-get install --reinstall $package" 78
  done
}

# Refuses a machine on which the installation would remove packages of others, as far as its lists of packages tell:
# OPTION... (of apt-get).
refuse_installation() {
  local missing refusal
  find_missing_packages
  if [ -z "${missing[*]}" ]; then return 0; fi
  refusal=$(refusal_of_installation "$@" --no-install-recommends "${missing[@]}")
  [ -z "$refusal" ] || fail "$MACHINE: $refusal" 78
}

# Sets `missing` to the distribution's packages that a node needs, and this machine does not have.
find_missing_packages() {
  local package packages=(conntrack socat iptables ethtool curl ca-certificates)
  packages=("$(containerd_package)" "${packages[@]}")
  if [ "$ENDPOINT" = yes ]; then packages+=(haproxy); fi
  if [ "$NETWORK_PLUGINS" = yes ]; then packages+=(containernetworking-plugins); fi
  missing=()
  for package in "${packages[@]}"; do
    # shellcheck disable=SC2016 # dpkg-query fills it in
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
}
