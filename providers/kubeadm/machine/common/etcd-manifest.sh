# shellcheck shell=bash
# kubeadm writes etcd's manifest as that of a first member, with the image of its own release.

# Gives a rendered manifest of etcd the peers with which the member joined, and the image that it runs: RENDERED CURRENT.
keep_member() {
  local peers image
  peers=$(mktemp "$1.XXXXXX")
  grep -E '^ *- --initial-cluster(-state)?=' "$2" >"$peers" || true
  sed -i -e '/^ *- --initial-cluster-state=/d' -e "/^ *- --initial-cluster=/{r $peers
d}" "$1"
  rm -f "$peers"
  image=$(sed -n 's/^ *image: //p' "$2" | head -n 1)
  sed -i "0,/^ *image: /s|^\( *image: \).*|\1$image|" "$1"
}
