# shellcheck shell=bash
# replaces: write_file remove_file
# shellcheck disable=SC2209 # words, not commands
# The functions that write files, in a preparation: they note each file that changes.

write_file() {
  local how=replaced before=${changed-}
  if ! is_there "$1"; then how=file; fi
  changed=no
  record_file "$1"
  replace_file "$@" || return
  if [ "$changed" = yes ]; then note "$how" "$1"; else changed=$before; fi
}

remove_file() {
  if ! is_there "$1"; then return 0; fi
  remove_path "$1"
  note removed "$1"
  # shellcheck disable=SC2034 # callers read it
  changed=yes
}
