# shellcheck shell=bash
# needs: common/disk-space common/before common/network-names common/preflight common/noted-files
# given: common/kubernetes-packages common/kubernetes-bundle common/preparation common/containerd-settings common/endpoint common/own-address common/bridge common/swap
# Prepares the machine for kubeadm. Does nothing on a machine that has joined, refuses one with another owner's
# Kubernetes, and does nothing twice. Data: the registries' credentials as containerd's configuration.
# Parameters, besides those of common/:
#   ADDRESS                              by which the other nodes reach this machine
#   POD_CIDR                             range of the cluster's pods
#   PREPARED                             version of the settings in common/settings
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

# Prints what containerd makes of settings of others: FILE.
dump_enabled_settings() {
  enable_pods <"$1" >"$SCRATCH_PATH/containerd.toml"
  containerd --config "$SCRATCH_PATH/containerd.toml" config dump
}

# Installs Kubernetes' programs, and notes those that were not there, or were others.
install_programs() {
  # shellcheck disable=SC2153,SC2154 # a parameter, and a variable of common/preparation
  local due before="" after="" had_key=no kind what version=$VERSION key=$kubernetes_key
  due=$(list_due_programs)
  if grep -q "^unsure " <<<"$due"; then before=$(list_program_sums); fi
  if is_there "$key"; then had_key=yes; fi
  install_kubernetes kubeadm kubelet kubectl
  if [ "$had_key" = no ] && is_there "$key"; then note file "$key"; fi
  if [ -n "$before" ]; then after=$(list_program_sums); fi
  while read -r kind what; do
    case $kind in
    bundle) note bundle "$what" ;;
    unsure) if [ "$(grep "/$what\$" <<<"$before")" != "$(grep "/$what\$" <<<"$after")" ]; then note program "$what" "$version"; fi ;;
    program)
      # shellcheck disable=SC2016 # dpkg-query fills it in
      if [ -n "$REPOSITORY" ]; then version=$(dpkg-query --show --showformat='${Version}' "$what"); fi
      note program "$what" "$version"
      ;;
    esac
  done <<<"$due"
}

# Lists a bundle's programs on this machine with their sums.
list_program_sums() { sha256sum /usr/local/bin/{kubeadm,kubelet,kubectl} 2>/dev/null || true; }

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
  local settings credentials how=replaced configuration=/run/foresail-containerd.toml
  write_registry_hosts
  mkdir -p /etc/containerd /opt/cni/bin
  settings=$(print_containerd_settings) || fail "$settings" 78
  # the secret stays out of what a failed command prints
  credentials=$(cat <&5; echo .)
  adjust_containerd_settings "$settings" "${credentials%.}" >"$configuration"
  chmod 0600 "$configuration"
  if ! is_there /etc/containerd/config.toml; then how="file"; fi
  if cmp --silent "$configuration" /etc/containerd/config.toml; then how=same; fi
  if [ "$how" != same ] || [ "$restart_containerd" = yes ] || ! systemctl is-active --quiet containerd; then
    record_file /etc/containerd/config.toml
    if [ "$how" != same ]; then note "$how" /etc/containerd/config.toml; fi
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
