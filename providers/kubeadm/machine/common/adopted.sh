# shellcheck shell=bash

# Tells whether this machine was adopted as a member: it keeps what its administrator decided.
is_adopted() { grep -qs '^adopted ' "$MEMBER_PATH"; }

# Prints the folder of patches that an upgrade of this machine gives to kubeadm, if there is one: CONFIGURED [ADOPTS:
# yes]. Without a configured one, a machine that is adopted, or is about to be, may have its own.
patches_of_upgrade() {
  local folder=$1
  if [ -z "$folder" ] && { [ "${2-no}" = yes ] || is_adopted; } && [ -d "$OWN_PATCHES_PATH" ]; then folder=$OWN_PATCHES_PATH; fi
  printf '%s' "$folder"
}
