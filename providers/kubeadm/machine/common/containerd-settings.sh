# shellcheck shell=bash
# shellcheck disable=SC2154 # other files fill these in
# Renders containerd's settings. A preview compares them with the file that is there.
# Parameters: MACHINE, REGISTRIES, SYSTEMD_CGROUP (true or false); and in_container and dump_enabled_settings, which the step has

# Prints containerd's settings: its defaults, or those of others that were there before foresail.
print_containerd_settings() {
  local others=$BEFORE_PATH/containerd.toml text
  if [ ! -e "$others" ]; then containerd config default; return; fi
  text=$(dump_enabled_settings "$others") ||
    fail "$MACHINE: containerd can't read the /etc/containerd/config.toml that was on this machine; repair its copy there, $others, then run the command again" 78
  grep -qE "^ *sandbox(_image)? = " <<<"$text" ||
    fail "$MACHINE: with the /etc/containerd/config.toml that was on this machine, $(containerd --version) has settings of a form that foresail does not know; move that file away, remove its copy $others, then run the command again" 78
  grep -qE "^ *address = [\"']/run/containerd/containerd.sock[\"']" <<<"$text" ||
    fail "$MACHINE: the /etc/containerd/config.toml that was on this machine sets another grpc.address than /run/containerd/containerd.sock, which kubeadm calls; remove that setting from its copy $others, then run the command again" 78
  if [ -n "${REGISTRIES[*]}" ] && excludes_registry_folder "$text"; then
    fail "$MACHINE: the /etc/containerd/config.toml that was on this machine has registry.mirrors or registry.configs with tls, which containerd does not take together with registryMirrors of the configuration; move them into the configuration, remove them from $others, then run the command again" 78
  fi
  # a file with another runtime replaces the list of them
  if ! grep -qE '\.runtimes\.runc\]$' <<<"$text"; then
    text+=$'\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\n  runtime_type = "io.containerd.runc.v2"\n'
    text+=$'[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]'
  fi
  # what is printed has all imports in it, and pods need these folders of programs and networks
  sed -E -e 's@^imports = .*@imports = []@' \
    -e "/^ *\[.*\.cni\]\$/,/^ *\[/{
      s@^( *bin_dir = )[\"'].+[\"']\$@\1\"/opt/cni/bin\"@
      /\/opt\/cni\/bin/!s@^( *bin_dirs = ).*@\1[\"/opt/cni/bin\"]@
      s@^( *conf_dir = ).*@\1\"/etc/cni/net.d\"@
      s@^( *conf_template = ).*@\1\"\"@
    }" <<<"$text"
}

# Prints settings of others without what disables the plugin that pods need, since containerd prints no settings of a disabled one.
enable_pods() {
  awk '/^ *disabled_plugins *=/ { inside = 1 }
    inside { gsub(/["\047](cri|io\.containerd\.grpc\.v1\.cri|io\.containerd\.cri\.v1\.(images|runtime))["\047] *,? */, "") }
    inside && /\]/ { inside = 0 } 1'
}

# Tells whether containerd refuses a folder of registries beside these settings: SETTINGS.
excludes_registry_folder() {
  grep -qE "\.registry\.(mirrors\.|configs\..*\.tls\])" <<<"$1"
}

# Prints settings with foresail's own in them, for a containerd with either form of settings: SETTINGS CREDENTIALS.
adjust_containerd_settings() {
  local text=$1 credentials=$2 pause folder=/etc/containerd/certs.d
  pause=$(pause_image)
  # since version 3 of its settings, which is containerd 2, the halves of the plugin have other names
  if grep -qE '^version = ([3-9]|[1-9][0-9])' <<<"$text"; then credentials=${credentials//io.containerd.grpc.v1.cri/io.containerd.cri.v1.images}; fi
  if ! excludes_registry_folder "$text"; then
    text=$(sed -E -e "s@^( *config_path = )[\"']{2}\$@\1\"$folder\"@" \
      -e "\@$folder@!s@^( *config_path = )[\"'](.+)[\"']\$@\1\"\2:$folder\"@" <<<"$text")
  fi
  # a container may not raise its own out-of-memory score
  if [ "$in_container" = yes ]; then text=$(sed -E 's@^( *restrict_oom_score_adj = ).*@\1true@' <<<"$text"); fi
  # TOML has each table once, so those of the configuration replace others. Not all releases have a value for the cgroups.
  {
    grep '^\[' <<<"$credentials" || true
    echo "="
    sed -E "s@^( *sandbox(_image)? = ).*@\1\"$pause\"@" <<<"$text"
  } | awk -v cgroup="$SYSTEMD_CGROUP" '
    function table() { name = $0; gsub(/[ "\047]/, "", name); return name }
    !body { if ($0 == "=") body = 1; else own[table()] = 1; next }
    /^ *\[/ {
      skip = table() in own
      options = runc && name ~ /\.runtimes\.[^.]+\.options\]$/
      runc = 0
      if (!skip) print
      if (options) print "            SystemdCgroup = " cgroup
      next
    }
    / runtime_type = .io\.containerd\.runc\.v2.$/ { runc = 1 }
    options && / SystemdCgroup = / { next }
    !skip'
  printf '%s' "$credentials"
}
