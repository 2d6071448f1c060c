# shellcheck shell=bash
# Prepares the machine for kubeadm. Does nothing on a machine that has joined, refuses one with another owner's
# Kubernetes, and does nothing twice. Data: the registries' credentials as containerd's configuration.
# Parameters, besides those of common/:
#   ADDRESS                              by which the other nodes reach this machine
#   POD_CIDR                             range of the cluster's pods
#   PREPARED                             version of the settings in common/settings
#   SYSTEMD_CGROUP                       true or false
#   KEEP_SWAP                            yes for a kubelet that runs with swap; else common/swap is there

# Waits until cloud-init has set up a new machine: it installs packages and writes files, too.
await_cloud_init() {
  local status=0
  case $(cloud-init status 2>/dev/null || true) in *running* | *"not started"*) ;; *) return 0 ;; esac
  progress "waits until cloud-init has ended, at most 300 s"
  timeout 300 cloud-init status --wait >/dev/null 2>&1 || status=$?
  if [ "$status" = 124 ]; then progress "cloud-init still runs, which foresail does not wait for any longer"; fi
}

# Kernel modules, sysctl and swap. Inside a container the kernel is the host's, so modules and swap are left unchanged.
prepare_kernel() {
  local change
  while read -r change; do note "$change"; done < <(list_kernel_changes)
  if [ "$in_container" = no ]; then modprobe -a overlay br_netfilter; fi
  sysctl --quiet --ignore --load=/etc/sysctl.d/90-foresail.conf
  if [ "$in_container" = no ] && [ "$KEEP_SWAP" = no ]; then turn_swap_off; fi
}

# Installs the missing distribution packages, which every node needs for any source of Kubernetes.
install_distribution_packages() {
  local plugin missing package
  # what a killed or refused installation left, also of others, would fail this one
  if [ -n "$(dpkg --audit)" ]; then configure_packages; fi
  find_missing_packages
  if [ -n "${missing[*]}" ]; then
    apt_get update
    install_packages --no-install-recommends "${missing[@]}"
    # shellcheck disable=SC2016 # dpkg-query fills it in
    for package in "${missing[@]}"; do note package "$package" "$(dpkg-query --show --showformat='${Version}' "$package" 2>/dev/null || true)"; done
  fi
  if [ "$NETWORK_PLUGINS" = no ]; then return 0; fi
  # the folder where every network expects plugins; existing files are kept
  (umask 022; mkdir -p /opt/cni/bin)
  for plugin in /usr/lib/cni/*; do [ -e "/opt/cni/bin/$(basename "$plugin")" ] || ln -sf "$plugin" /opt/cni/bin/; done
}

# Prints containerd's settings: its defaults, or those of others that were there before foresail.
print_containerd_settings() {
  local others=$BEFORE_PATH/containerd.toml enabled=$SCRATCH_PATH/containerd.toml text
  if [ ! -e "$others" ]; then containerd config default; return; fi
  # containerd prints no settings of a plugin that is disabled, and pods need this one
  awk '/^ *disabled_plugins *=/ { inside = 1 }
    inside { gsub(/["\047](cri|io\.containerd\.grpc\.v1\.cri|io\.containerd\.cri\.v1\.(images|runtime))["\047] *,? */, "") }
    inside && /\]/ { inside = 0 } 1' "$others" >"$enabled"
  text=$(containerd --config "$enabled" config dump) ||
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

# Installs Kubernetes' programs, and notes those that were not there.
install_programs() {
  # shellcheck disable=SC2153,SC2154 # a parameter, and a variable of common/preparation
  local due had_key=no program version=$VERSION key=$kubernetes_key
  due=$(list_due_programs)
  if is_there "$key"; then had_key=yes; fi
  install_kubernetes kubeadm kubelet kubectl
  if [ "$had_key" = no ] && is_there "$key"; then note file "$key"; fi
  for program in ${due//program /}; do
    # shellcheck disable=SC2016 # dpkg-query fills it in
    if [ -n "$REPOSITORY" ]; then version=$(dpkg-query --show --showformat='${Version}' "$program"); fi
    note program "$program" "$version"
  done
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

# Ends the step when containerd does not use what was written: it ignores what it does not know, and what it imports
# replaces settings of the file: CREDENTIALS.
require_effective_containerd() {
  local used pause host missing=() folder=/etc/containerd/certs.d
  pause=$(pause_image)
  used=$(print_effective_containerd) || fail "$MACHINE: containerd can't print the settings that it uses; run there: containerd config dump" 78
  uses_pause_image "$used" "$pause" || missing+=("the pause image $pause")
  # a runtime of another kind, which others configured, has no such option
  ! grep -qE '\.runtimes\.runc runtime_type = io\.containerd\.runc\.v2$' <<<"$used" ||
    grep -qE "\.runtimes\.runc\.options SystemdCgroup = $SYSTEMD_CGROUP\$" <<<"$used" || missing+=("SystemdCgroup = $SYSTEMD_CGROUP of runc")
  if [ -n "${REGISTRIES[*]}" ] && ! grep -qE "\.registry config_path = (.*:)?$folder(:|\$)" <<<"$used"; then
    missing+=("registryMirrors, which are in $folder")
  fi
  while IFS= read -r host; do
    grep -qF ".registry.configs.$host.auth username = " <<<"$used" || missing+=("registryCredentials of $host")
  done < <(sed -nE 's/^\[.*\.registry\.configs\."(.*)"\.auth\]$/\1/p' <<<"$1")
  if [ -z "${missing[*]}" ]; then return 0; fi
  fail "$MACHINE: containerd $(containerd --version | cut -d " " -f 3) does not use what foresail wrote to /etc/containerd/config.toml: $(printf '%s; ' "${missing[@]}")look there at: containerd config dump, and at the files of its line \"imports\", which may set something else" 78
}

# Configures containerd and restarts it only when something changed.
configure_containerd() {
  local settings credentials configuration=/run/foresail-containerd.toml
  write_registry_hosts
  mkdir -p /etc/containerd /opt/cni/bin
  settings=$(print_containerd_settings) || fail "$settings" 78
  # the secret stays out of what a failed command prints
  credentials=$(cat <&5; echo .)
  adjust_containerd_settings "$settings" "${credentials%.}" >"$configuration"
  chmod 0600 "$configuration"
  if ! cmp --silent "$configuration" /etc/containerd/config.toml || [ "$restart_containerd" = yes ] || ! systemctl is-active --quiet containerd; then
    record_file /etc/containerd/config.toml
    if is_there /etc/containerd/config.toml; then note replaced /etc/containerd/config.toml; else note file /etc/containerd/config.toml; fi
    mv -f "$configuration" /etc/containerd/config.toml
    systemctl daemon-reload
    systemctl enable --quiet containerd
    restart_unit containerd
  else
    rm -f "$configuration"
  fi
  await_containerd
  require_effective_containerd "${credentials%.}"
}

if [ -n "$login_proxies" ] && [ -z "${PROXY[*]}" ]; then
  # shellcheck disable=SC2034 # the frame prints it when the step fails
  hint="login sessions of this machine set$login_proxies, which no step uses; if it needs a proxy, set proxy in the configuration"
fi
refuse_unsupported_system
refuse_unsupported_processor
refuse_foreign_machine
if [ -e "$MEMBER_PATH" ]; then exit 0; fi
refuse_unnamed_owner
refuse_other_networks
refuse_incomplete_containerd
# images that an earlier preparation imported use some of the space
if [ ! -e "$PREPARED_PATH" ]; then refuse_full_disks; fi
await_cloud_init
if [ ! -e "$MARKER_PATH" ]; then refuse_installation; fi
# from here on the machine may have parts of both
if [ -e "$PREPARED_PATH" ]; then echo interrupted >"$PREPARED_PATH"; fi
in_container=no
if systemd-detect-virt --container --quiet; then in_container=yes; fi
record_before "$POD_CIDR"
claim_machine
restart_containerd=no
write_settings_files
prepare_kernel
install_distribution_packages
install_programs
configure_containerd
import_images machine
write_service_files
systemctl daemon-reload
systemctl enable --quiet kubelet
printf '%s' "$PREPARED" >"$PREPARED_PATH"
