# shellcheck shell=bash
# Prepares the machine for kubeadm. Does nothing on a machine that has joined, refuses one with another owner's
# Kubernetes, and does nothing twice. Data: the registries' credentials as containerd's configuration.
# Parameters, besides those of common/:
#   ADDRESS                              by which the other nodes reach this machine
#   PREPARED                             version of the settings in common/settings
#   SYSTEMD_CGROUP                       true or false
#   ENDPOINT, BRIDGE, HOLD_ADDRESS, NETWORK_PLUGINS      yes or no
#   OWN_NETWORKS                         names of the pod network's files in /etc/cni/net.d; empty if they are not known

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

# Refuses a network of others: containerd takes the first file of this folder, so pods would be in another network than those
# of the other nodes, on a Node that is ready.
refuse_other_networks() {
  local path others=()
  if [ -z "${OWN_NETWORKS[*]}" ]; then return 0; fi
  for path in /etc/cni/net.d/*; do
    case $path in *.conf | *.conflist | *.json) ;; *) continue ;; esac
    if [[ " ${OWN_NETWORKS[*]} " != *" ${path##*/} "* && " ${FILE_PATHS[*]} " != *" $path "* ]]; then others+=("$path"); fi
  done
  if [ -z "${others[*]}" ]; then return 0; fi
  fail "$MACHINE: ${others[*]} configures another pod network than that of this cluster, and containerd would use it. Nothing was changed. If nothing on this machine needs it, run there: mkdir -p /var/backups/cni; mv ${others[*]} /var/backups/cni/" 78
}

# Waits until cloud-init has set up a new machine: it installs packages and writes files, too.
await_cloud_init() {
  local status=0
  case $(cloud-init status 2>/dev/null || true) in *running* | *"not started"*) ;; *) return 0 ;; esac
  progress "waits until cloud-init has ended, at most 300 s"
  timeout 300 cloud-init status --wait >/dev/null 2>&1 || status=$?
  if [ "$status" = 124 ]; then progress "cloud-init still runs, which foresail does not wait for any longer"; fi
}

# Keeps the kubelet from a proxy that systemd gives to all units. Its name puts it before the drop-in of a configured proxy.
keep_kubelet_without_proxy() {
  write_file /etc/systemd/system/kubelet.service.d/00-foresail-environment.conf 0644 <<<"[Service]
Environment=${PROXY_NAMES// /= }="
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

if [ -n "$login_proxies" ] && [ -z "${PROXY[*]}" ]; then
  # shellcheck disable=SC2034 # the frame prints it when the step fails
  hint="login sessions of this machine set$login_proxies, which no step uses; if it needs a proxy, set proxy in the configuration"
fi
refuse_unsupported_system
refuse_foreign_machine
if [ -e "$MEMBER_PATH" ]; then exit 0; fi
refuse_unnamed_owner
refuse_other_networks
# images that an earlier preparation imported use some of the space
if [ ! -e "$PREPARED_PATH" ]; then refuse_full_disks; fi
await_cloud_init
# from here on the machine may have parts of both
if [ -e "$PREPARED_PATH" ]; then echo interrupted >"$PREPARED_PATH"; fi
in_container=no
if systemd-detect-virt --container --quiet; then in_container=yes; fi
claim_machine
restart_containerd=no
configure_environment
keep_kubelet_without_proxy
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
