# shellcheck shell=bash
# Kubernetes from the community's apt repository, pinned and held.
# Parameters: VERSION, REPOSITORY (address of the repository of the version's minor, ends with /)

# matches the package versions of this version, with any revision
release=${VERSION//./\\.}-

fetch_repository_key() {
  (umask 022; curl --fail --silent --show-error --location --retry 3 --max-time 60 "${REPOSITORY}Release.key" --output "$1") ||
    fail "the key of the Kubernetes repository could not be read from ${REPOSITORY}Release.key; check cluster.source.packages.repository, and that this machine reaches it" 66
}

# Installs these programs in this version, unless they are installed: PROGRAM...
install_kubernetes() {
  local installed package key=/etc/apt/keyrings/foresail-kubernetes.asc list=sources.list.d/foresail-kubernetes.list
  # shellcheck disable=SC2016 # dpkg-query fills them in
  installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' "$@" 2>/dev/null | grep -cE "^installed $release" || true)
  if [ "$installed" = $# ]; then return 0; fi
  (umask 022; mkdir -p /etc/apt/keyrings)
  fetch_repository_key "$key"
  chmod 0644 "$key"
  write_file "/etc/apt/$list" 0644 <<<"deb [signed-by=$key] $REPOSITORY /"
  # only this list: other broken lists must not block the installation, but errors of this list must be reported
  apt_get update -o Dir::Etc::sourcelist="$list" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any ||
    fail "the Kubernetes repository $REPOSITORY could not be read, or its signature is not of the key in its Release.key; nothing was installed from it" 65
  for package in "$@"; do
    apt-cache madison "$package" | cut -d '|' -f 2 | grep -E "^ *$release" ||
      fail "the Kubernetes repository $REPOSITORY has no $package $VERSION; it has: $(apt-cache madison "$package" | cut -d '|' -f 2 | tr -d ' ' | head -n 10 | xargs)" 65
  done
  dpkg --configure -a
  apt-mark unhold "$@" || true
  apt_get install --no-install-recommends --allow-downgrades "${@/%/=$VERSION-*}"
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
  fetch_repository_key "$lists/key.asc"
  echo "deb [signed-by=$lists/key.asc] $REPOSITORY /" >"$lists/kubernetes.list"
  only=(-o Dir::Etc::sourcelist="$lists/kubernetes.list" -o Dir::Etc::sourceparts=- -o Dir::State::Lists="$lists/state" -o Dir::Cache="$lists/cache")
  (umask 022; apt_get update "${only[@]}" -o APT::Update::Error-Mode=any) ||
    fail "the Kubernetes repository $REPOSITORY could not be read, or its signature is not of the key in its Release.key" 65
  for package in kubeadm kubelet kubectl; do
    apt-cache "${only[@]}" madison "$package" | cut -d '|' -f 2 | grep -qE "^ *$release" ||
      fail "the Kubernetes repository $REPOSITORY has no $package $VERSION" 65
  done
}

# containerd pulls images from a registry when they are needed
import_images() { :; }
