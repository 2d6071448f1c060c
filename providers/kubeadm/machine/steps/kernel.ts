import { writeFile } from "./script";

/**
 * Returns shell lines for kernel modules, sysctl and swap. Inside a container the kernel is the host's, so modules and
 * swap are left unchanged.
 */
export function prepareKernel(): string {
  return [
    writeFile("/etc/modules-load.d/foresail.conf", "overlay\nbr_netfilter\n", "0644"),
    'if [ "$in_container" = no ]; then modprobe -a overlay br_netfilter; fi',
    // a leading dash for systemd, and --ignore for sysctl, skip a key that this kernel does not have
    writeFile(
      "/etc/sysctl.d/90-foresail.conf",
      [
        "net.ipv4.ip_forward = 1",
        "-net.bridge.bridge-nf-call-iptables = 1",
        "-net.bridge.bridge-nf-call-ip6tables = 1",
        "-net.ipv4.neigh.default.gc_thresh1 = 4096",
        "-net.ipv4.neigh.default.gc_thresh2 = 8192",
        "-net.ipv4.neigh.default.gc_thresh3 = 16384",
        "-fs.inotify.max_user_instances = 8192",
        "-fs.inotify.max_user_watches = 524288",
        "",
      ].join("\n"),
      "0644",
    ),
    "sysctl --quiet --ignore --load=/etc/sysctl.d/90-foresail.conf",
    `if [ "$in_container" = no ] && [ -n "$(swapon --noheadings --show 2>/dev/null)" ]; then
  swapoff -a
  sed -i -E 's@^([^#].*[[:space:]]swap[[:space:]].*)$@# foresail: \\1@' /etc/fstab
fi`,
  ].join("\n");
}
