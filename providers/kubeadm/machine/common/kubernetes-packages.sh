# shellcheck shell=bash
# needs: common/software
# Kubernetes from the community's apt repository, pinned and held.
# Parameters: VERSION, REPOSITORY (address of the repository of the version's minor, ends with /), KEY_FINGERPRINT

# matches the package versions of this version, with any revision
release=${VERSION//./\\.}-

# Writes the repository's key and apt's list for it: KEY LIST. The repository may replace its Release.key, so apt accepts
# only signatures of the pinned key, whatever other keys the file contains.
describe_repository() {
  [[ $KEY_FINGERPRINT =~ ^[0-9A-Fa-f]{40}$ ]] ||
    fail "no fingerprint of the key of the Kubernetes repository $REPOSITORY is configured; write it in cluster.source.packages.keyFingerprint" 64
  (umask 022; curl --fail --silent --show-error --location --proto '=https' --retry 3 --max-time 60 "${REPOSITORY}Release.key" --output "$1") ||
    fail "the key of the Kubernetes repository could not be read from ${REPOSITORY}Release.key; check cluster.source.packages.repository, and that this machine reaches it" 66
  (umask 022; echo "deb [signed-by=$1,$KEY_FINGERPRINT] $REPOSITORY /" >"$2")
}

# Fails because apt could not verify the repository.
refuse_repository() {
  fail "the Kubernetes repository $REPOSITORY could not be read, or it is not signed by the key $KEY_FINGERPRINT (cluster.source.packages.keyFingerprint); nothing was installed from it" 65
}

# Installs these programs in this version, unless they are installed: PROGRAM...
install_kubernetes() {
  local installed package key=/etc/apt/keyrings/foresail-kubernetes.asc list=sources.list.d/foresail-kubernetes.list
  # shellcheck disable=SC2016 # dpkg-query fills them in
  installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' "$@" 2>/dev/null | grep -cE "^installed $release" || true)
  if [ "$installed" = $# ]; then
    # a reset leaves the packages, and no holds
    apt-mark hold "$@"
    return 0
  fi
  (umask 022; mkdir -p /etc/apt/keyrings /etc/apt/sources.list.d)
  describe_repository "$key.new" "/etc/apt/$list.new"
  # only this list: other broken lists must not block the installation, but errors of this list must be reported
  if ! apt_get update -o Dir::Etc::sourcelist="$list.new" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any; then
    rm -f "$key.new" "/etc/apt/$list.new"
    refuse_repository
  fi
  mv -f "$key.new" "$key"
  rm -f "/etc/apt/$list.new"
  write_file "/etc/apt/$list" 0644 <<<"deb [signed-by=$key,$KEY_FINGERPRINT] $REPOSITORY /"
  for package in "$@"; do
    apt-cache madison "$package" | cut -d '|' -f 2 | grep -E "^ *$release" ||
      fail "the Kubernetes repository $REPOSITORY has no $package $VERSION; it has: $(apt-cache madison "$package" | cut -d '|' -f 2 | tr -d ' ' | head -n 10 | xargs)" 65
  done
  configure_packages
  install_packages --no-install-recommends --allow-downgrades --allow-change-held-packages "${@/%/=$VERSION-*}"
  apt-mark hold "$@"
}

# Fails when the repository does not have the version, exit code 65 or 66. Installs nothing.
check_kubernetes() {
  local lists only package
  # separate lists, so that a mere check does not influence later installations
  lists=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of this call
  trap "rm -rf '$lists'" EXIT
  chmod 0755 "$lists"
  # apt creates no folder of lists outside of its own
  (umask 022; mkdir -p "$lists/state/partial")
  describe_repository "$lists/key.asc" "$lists/kubernetes.list"
  only=(-o Dir::Etc::sourcelist="$lists/kubernetes.list" -o Dir::Etc::sourceparts=- -o Dir::State::Lists="$lists/state" -o Dir::Cache="$lists/cache")
  (umask 022; apt_get update "${only[@]}" -o APT::Update::Error-Mode=any) || refuse_repository
  for package in kubeadm kubelet kubectl; do
    apt-cache "${only[@]}" madison "$package" | cut -d '|' -f 2 | grep -qE "^ *$release" ||
      fail "the Kubernetes repository $REPOSITORY has no $package $VERSION" 65
  done
}

# apt downloads at the installation
stage_kubernetes() { :; }
list_download() { :; }

# containerd pulls images from a registry when they are needed
import_images() { :; }
