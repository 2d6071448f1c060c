# shellcheck shell=bash
# Turns swap off, on a machine whose kubelet is not configured to run with it.
turn_swap_off() {
  if [ -z "$(swapon --noheadings --show 2>/dev/null)" ]; then return 0; fi
  swapoff -a
  sed -i -E 's@^([^#].*[[:space:]]swap[[:space:]].*)$@# foresail: \1@' /etc/fstab
}
