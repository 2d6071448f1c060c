# shellcheck shell=bash
# Functions of every step, and of the node agent's installers.

# Ends the step: MESSAGE [EXIT_CODE].
fail() {
  printf '%s\n' "$1"
  exit "${2:-1}"
}

# Replaces a file by standard input atomically: PATH MODE. Sets `changed` to yes only when its text differs. Does not touch a
# file that is as it should be: systemd would ask for a reload of all units.
write_file() {
  local new=$1.foresail-new
  # other users need access to the parent folder, so it is not only for root
  (umask 022; mkdir -p "$(dirname "$1")")
  cat >"$new"
  chmod "$2" "$new"
  if ! cmp --silent "$new" "$1"; then
    # shellcheck disable=SC2034 # callers read it
    changed=yes
  elif [ "$(stat --format='%a %u %g %F' "$new" "$1" | uniq | wc -l)" = 1 ]; then
    rm -f "$new"
    return 0
  fi
  mv -f "$new" "$1"
}

await_containerd() {
  timeout 60 bash -c 'until ctr version >/dev/null 2>&1; do sleep 0.2; done' ||
    fail "containerd did not answer within 60 seconds; look at: journalctl -u containerd"
}
