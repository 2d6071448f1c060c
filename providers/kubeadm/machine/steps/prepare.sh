# shellcheck shell=bash
# Prepares the machine for kubeadm. Does nothing on a machine that has joined, refuses one with another owner's
# Kubernetes, and does nothing twice. Data: the registries' credentials as containerd's configuration.
# Parameters, besides those of common/:
#   ADDRESS                              by which the other nodes reach this machine
#   PREPARED                             version of the settings in common/settings
#   SYSTEMD_CGROUP                       true or false
#   ENDPOINT, BRIDGE, HOLD_ADDRESS, NETWORK_PLUGINS      yes or no

refuse_unsupported_system() {
  local system
  # shellcheck source=/dev/null
  system=$(. /etc/os-release; echo "$ID $VERSION_ID")
  case "$system" in
  "debian 12" | "ubuntu 22.04" | "ubuntu 24.04") ;;
  *) fail "$MACHINE: runs $system; foresail supports Debian 12, Ubuntu 22.04, Ubuntu 24.04" 78 ;;
  esac
  case "$(uname -m)" in
  x86_64 | aarch64) ;;
  *) fail "$MACHINE: has a $(uname -m) processor; foresail supports amd64 and arm64" 78 ;;
  esac
}

# Kernel modules, sysctl and swap. Inside a container the kernel is the host's, so modules and swap are left unchanged.
prepare_kernel() {
  write_file /etc/modules-load.d/foresail.conf 0644 <<<$'overlay\nbr_netfilter'
  if [ "$in_container" = no ]; then modprobe -a overlay br_netfilter; fi
  # a leading dash for systemd, and --ignore for sysctl, skip a key that this kernel does not have
  write_file /etc/sysctl.d/90-foresail.conf 0644 <<'SYSCTL'
net.ipv4.ip_forward = 1
-net.bridge.bridge-nf-call-iptables = 1
-net.bridge.bridge-nf-call-ip6tables = 1
-net.ipv4.neigh.default.gc_thresh1 = 4096
-net.ipv4.neigh.default.gc_thresh2 = 8192
-net.ipv4.neigh.default.gc_thresh3 = 16384
-fs.inotify.max_user_instances = 8192
-fs.inotify.max_user_watches = 524288
SYSCTL
  sysctl --quiet --ignore --load=/etc/sysctl.d/90-foresail.conf
  if [ "$in_container" = no ] && [ -n "$(swapon --noheadings --show 2>/dev/null)" ]; then
    swapoff -a
    sed -i -E 's@^([^#].*[[:space:]]swap[[:space:]].*)$@# foresail: \1@' /etc/fstab
  fi
}

# Installs the missing distribution packages, which every node needs for any source of Kubernetes.
install_distribution_packages() {
  local package plugin missing=() packages=(containerd conntrack socat iptables ethtool curl ca-certificates)
  if [ "$ENDPOINT" = yes ]; then packages+=(haproxy); fi
  if [ "$NETWORK_PLUGINS" = yes ]; then packages+=(containernetworking-plugins); fi
  for package in "${packages[@]}"; do
    # shellcheck disable=SC2016 # dpkg-query fills it in
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if [ -n "${missing[*]}" ]; then
    apt_get update
    apt_get install --no-install-recommends "${missing[@]}"
  fi
  if [ "$NETWORK_PLUGINS" = no ]; then return 0; fi
  # the folder where every network expects plugins; existing files are kept
  (umask 022; mkdir -p /opt/cni/bin)
  for plugin in /usr/lib/cni/*; do [ -e "/opt/cni/bin/$(basename "$plugin")" ] || ln -sf "$plugin" /opt/cni/bin/; done
}

# Configures containerd and restarts it only when something changed.
configure_containerd() {
  local pause configuration=/run/foresail-containerd.toml
  write_registry_hosts
  pause=$(pause_image)
  mkdir -p /etc/containerd /opt/cni/bin
  containerd config default | sed -E \
    -e "s|^( *sandbox_image = ).*|\1\"$pause\"|" \
    -e "s|^( *SystemdCgroup = ).*|\1$SYSTEMD_CGROUP|" \
    -e 's|^( *config_path = )""|\1"/etc/containerd/certs.d"|' \
    >"$configuration"
  # a container may not raise its own out-of-memory score
  if [ "$in_container" = yes ]; then sed -i -E 's|^( *restrict_oom_score_adj = ).*|\1true|' "$configuration"; fi
  cat <&5 >>"$configuration"
  chmod 0600 "$configuration"
  if ! cmp --silent "$configuration" /etc/containerd/config.toml || [ "$restart_containerd" = yes ] || ! systemctl is-active --quiet containerd; then
    mv -f "$configuration" /etc/containerd/config.toml
    systemctl daemon-reload
    systemctl enable --quiet containerd
    systemctl restart containerd
  else
    rm -f "$configuration"
  fi
  await_containerd
}

refuse_unsupported_system
refuse_foreign_machine
if [ -e "$MEMBER_PATH" ]; then exit 0; fi
# from here on the machine may have parts of both
if [ -e "$PREPARED_PATH" ]; then echo interrupted >"$PREPARED_PATH"; fi
in_container=no
if systemd-detect-virt --container --quiet; then in_container=yes; fi
claim_machine
restart_containerd=no
configure_environment
prepare_kernel
install_distribution_packages
install_kubernetes kubeadm kubelet kubectl
configure_containerd
import_images machine
write_user_files
if [ "$ENDPOINT" = yes ]; then configure_endpoint; fi
if [ "$HOLD_ADDRESS" = yes ]; then hold_own_address "$ADDRESS"; fi
if [ "$BRIDGE" = yes ]; then configure_bridge; fi
systemctl daemon-reload
systemctl enable --quiet kubelet
printf '%s' "$PREPARED" >"$PREPARED_PATH"
