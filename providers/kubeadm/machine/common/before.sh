# shellcheck shell=bash
# How a machine was before foresail claimed it.

# Tells whether a configuration file is as its package brought it: PATH.
is_of_package() {
  # shellcheck disable=SC2016 # dpkg-query fills it in
  dpkg-query --show --showformat='${Conffiles}\n' 2>/dev/null | grep -qF -- " $1 $(md5sum <"$1" | cut -d ' ' -f 1)"
}

# Tells whether containerd has a configuration of others.
has_containerd_file() { [ -f /etc/containerd/config.toml ] && ! is_of_package /etc/containerd/config.toml; }

# Records a machine that foresail claims now; one that was claimed before keeps its record, or has none.
record_before() {
  if [ -n "$claimed_by" ] || [ -e "$BEFORE_PATH/complete" ]; then return 0; fi
  rm -rf "$BEFORE_PATH"
  mkdir -p "$BEFORE_PATH"
  if has_containerd_file; then cp --archive /etc/containerd/config.toml "$BEFORE_PATH/containerd.toml"; fi
  touch "$BEFORE_PATH/complete"
}
