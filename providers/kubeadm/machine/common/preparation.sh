# shellcheck shell=bash
# needs: common/settings
# shellcheck disable=SC2034,SC2154 # other files read them and fill them in
# What the preparation of a machine changes. A preview lists it by the same functions, in a shell in which those that write a
# file only tell. Foresail's own records in /var/lib/foresail are not part of the list.
# Parameters, besides those of common/settings: KEEP_SWAP (yes for a kubelet that runs with swap), ENDPOINT, BRIDGE and
# HOLD_ADDRESS (yes or no), REPOSITORY (empty for a bundle), and in_container, which the step sets

# Prints what the preparation has changed, as the preview lists it: KIND WORDS...
note() {
  printf '== did %s\n' "$*"
}

kubernetes_key=/etc/apt/keyrings/foresail-kubernetes.asc

# Keeps the kubelet from a proxy that systemd gives to all units. Its name puts it before the drop-in of a configured proxy.
keep_kubelet_without_proxy() {
  write_file /etc/systemd/system/kubelet.service.d/00-foresail-environment.conf 0644 <<<"[Service]
Environment=${PROXY_NAMES// /= }="
}

# A leading dash for systemd, and --ignore for sysctl, skip a key that this kernel does not have.
print_kernel_values() {
  cat <<'SYSCTL'
net.ipv4.ip_forward = 1
-net.bridge.bridge-nf-call-iptables = 1
-net.bridge.bridge-nf-call-ip6tables = 1
-net.ipv4.neigh.default.gc_thresh1 = 4096
-net.ipv4.neigh.default.gc_thresh2 = 8192
-net.ipv4.neigh.default.gc_thresh3 = 16384
-fs.inotify.max_user_instances = 8192
-fs.inotify.max_user_watches = 524288
SYSCTL
}

write_kernel_files() {
  write_file /etc/modules-load.d/foresail.conf 0644 <<<$'overlay\nbr_netfilter'
  write_file /etc/sysctl.d/90-foresail.conf 0644 <<<"$(print_kernel_values)"
}

# Lists "KIND WORDS" of what the kernel gets: modules, settings and no swap. Inside a container it is the host's, so modules and
# swap are left unchanged.
list_kernel_changes() {
  local name key value old
  if [ "$in_container" = no ]; then
    for name in overlay br_netfilter; do if [ ! -d "/sys/module/$name" ]; then echo "module $name"; fi; done
  fi
  while read -r key _ value; do
    key=${key#-}
    old=$(sysctl --values --ignore "$key" 2>/dev/null || true)
    if [ -n "$old" ] && [ "$old" != "$value" ]; then echo "setting $key = $value"; fi
  done < <(print_kernel_values)
  if [ "$in_container" = no ] && [ "$KEEP_SWAP" = no ]; then awk 'NR > 1 { print "swap " $1 }' /proc/swaps; fi
}

# Lists those of Kubernetes' programs that are to be installed, each "program NAME". Before a bundle is downloaded, lists "bundle SUM",
# and "unsure NAME" for a program that is there, since the bundle may have another one.
list_due_programs() {
  local program download
  download=$(list_download)
  if [ -n "$download" ]; then
    echo "$download"
    for program in kubeadm kubelet kubectl; do
      if [ -e "/usr/local/bin/$program" ]; then echo "unsure $program"; else echo "program $program"; fi
    done
    return 0
  fi
  for program in kubeadm kubelet kubectl; do
    if [ -n "$REPOSITORY" ]; then
      # shellcheck disable=SC2016 # dpkg-query fills it in
      if dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' "$program" 2>/dev/null | grep "^installed ${VERSION//./\\.}-" >/dev/null; then continue; fi
    elif [ -e "/usr/local/bin/$program" ] && cmp --silent "$BUNDLE/bin/$program" "/usr/local/bin/$program"; then
      continue
    fi
    echo "program $program"
  done
}

# Writes the files of the machine's settings that need no installed program.
write_settings_files() {
  configure_environment
  keep_kubelet_without_proxy
  write_kernel_files
}

# Writes the files that come after the installation, and starts what they describe.
write_service_files() {
  write_user_files
  load_kernel_files
  if [ "$ENDPOINT" = yes ]; then configure_endpoint; fi
  if [ "$HOLD_ADDRESS" = yes ]; then hold_own_address "$ADDRESS"; fi
  if [ "$BRIDGE" = yes ]; then configure_bridge; fi
}
