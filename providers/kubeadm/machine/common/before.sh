# shellcheck shell=bash
# given: common/network-names
# How a machine was before foresail claimed it, so that a reset gives it back like that. write_file records files.

# Kernel settings that foresail, the kubelet, kube-proxy and the pod networks change; those of devices are in a pattern. The
# first one sets the forwarding of all devices, so it is the first to be loaded.
kernel_settings=(net.ipv4.ip_forward net.ipv6.conf.all.forwarding net.bridge.bridge-nf-call-iptables net.bridge.bridge-nf-call-ip6tables
  net.ipv4.neigh.default.gc_thresh{1,2,3} fs.inotify.max_user_{instances,watches} vm.overcommit_memory vm.panic_on_oom kernel.panic
  kernel.panic_on_oops kernel.keys.root_max{keys,bytes} net.netfilter.nf_conntrack_{max,tcp_timeout_established,tcp_timeout_close_wait,tcp_be_liberal}
  net.core.bpf_jit_enable kernel.unprivileged_bpf_disabled kernel.timer_migration)
device_settings='^net\.ipv4\.(conf\..*\.(forwarding|proxy_arp|route_localnet|rp_filter)|neigh\..*\.proxy_delay)$'

# Tells whether a configuration file is as its package brought it: PATH.
is_of_package() {
  # shellcheck disable=SC2016 # dpkg-query fills it in
  dpkg-query --show --showformat='${Conffiles}\n' 2>/dev/null | grep -qF -- " $1 $(md5sum <"$1" | cut -d ' ' -f 1)"
}

# Tells whether containerd has a configuration of others.
has_containerd_file() { [ -f /etc/containerd/config.toml ] && ! is_of_package /etc/containerd/config.toml; }

list_kernel_settings() {
  sysctl --ignore "${kernel_settings[@]}" 2>/dev/null || true
  # without the module, no packet of a bridge passes the firewall
  if [ ! -e /proc/sys/net/bridge ]; then printf 'net.bridge.bridge-nf-call-%s = 0\n' iptables ip6tables; fi
  sysctl --all --pattern "$device_settings" 2>/dev/null || true
}

# Records a machine that foresail claims now: PODS (the range of the cluster's pods). One that was claimed before keeps its
# record, or has none.
record_before() {
  if [ -n "$claimed_by" ]; then return 0; fi
  rm -rf "$BEFORE_PATH"
  mkdir -p "$BEFORE_PATH"
  if has_containerd_file; then cp --archive --dereference /etc/containerd/config.toml "$BEFORE_PATH/containerd.toml"; fi
  list_kernel_settings >"$BEFORE_PATH/settings"
  swapon --noheadings --raw --show=NAME >"$BEFORE_PATH/swap" 2>/dev/null || true
  ls -A /opt/cni/bin >"$BEFORE_PATH/plugins" 2>/dev/null || true
  apt-mark showhold >"$BEFORE_PATH/holds" 2>/dev/null || true
  list_network >"$BEFORE_PATH/network"
  printf '%s\n' "$1" >"$BEFORE_PATH/pods"
}
