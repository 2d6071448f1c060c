/** The packages of the nodes' root file system: those of a plain server, plus the container runtime; nothing from Kubernetes. */
export const NODE_PACKAGES = [
  ...["systemd-sysv", "dbus", "openssh-server", "sudo", "ca-certificates", "curl", "less", "jq", "xz-utils"],
  ...[
    "procps",
    "util-linux",
    "kmod",
    "iproute2",
    "iputils-ping",
    "ethtool",
    "socat",
    "conntrack",
    "iptables",
  ],
  ...["containerd", "runc", "containernetworking-plugins", "haproxy"],
];

/** Where a release of containerd that is not the distribution's is copied to in a new root file system. */
export const CONTAINERD_IN_NODE = "/opt/containerd/release";

/** The script that puts that release in place of the package's programs, which an upgrade of the package then keeps. */
export const CONTAINERD_SETUP = `
for program in ${CONTAINERD_IN_NODE}/*; do
  name=$(basename "$program")
  dpkg-divert --local --rename --add "/usr/bin/$name" >/dev/null
  install -m 0755 "$program" "/usr/bin/$name"
done
rm -rf ${CONTAINERD_IN_NODE}
`;

/** The user that foresail logs in as. */
export const NODE_USER = "foresail";

/** Where a node's own keys are mounted. */
export const KEYS_IN_NODE = "/etc/foresail/keys";

/**
 * The script that runs once in the new root file system. A unit installs keys at each boot, because sshd rejects a
 * mounted file with the wrong owner.
 */
export const NODE_SETUP = `
useradd --create-home --shell /bin/bash ${NODE_USER}
echo '${NODE_USER} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/${NODE_USER}
chmod 0440 /etc/sudoers.d/${NODE_USER}
rm -f /etc/ssh/ssh_host_*
cat > /etc/ssh/sshd_config.d/foresail.conf <<'FILE'
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin no
PasswordAuthentication no
KbdInteractiveAuthentication no
UseDNS no
MaxStartups 100:30:200
MaxSessions 50
FILE
cat > /usr/local/sbin/foresail-node <<'FILE'
#!/bin/sh -e
# pods that mount volumes for others need shared mounts, which a machine has and a container has not
mount --make-rshared /
install -m 0600 ${KEYS_IN_NODE}/ssh_host_ed25519_key /etc/ssh/ssh_host_ed25519_key
install -d -m 0700 -o ${NODE_USER} -g ${NODE_USER} /home/${NODE_USER}/.ssh
install -m 0600 -o ${NODE_USER} -g ${NODE_USER} ${KEYS_IN_NODE}/authorized_keys /home/${NODE_USER}/.ssh/authorized_keys
FILE
chmod 0755 /usr/local/sbin/foresail-node
cat > /etc/systemd/system/foresail-node.service <<'FILE'
[Unit]
Description=foresail: make this container a machine
Before=ssh.service containerd.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/foresail-node
[Install]
WantedBy=multi-user.target
FILE
systemctl enable foresail-node.service ssh.service containerd.service
systemctl disable haproxy.service
systemctl mask systemd-udevd.service systemd-resolved.service systemd-networkd.service getty.target \\
  console-getty.service systemd-logind.service apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer \\
  systemd-modules-load.service sys-kernel-debug.mount sys-kernel-tracing.mount dev-hugepages.mount
systemctl set-default multi-user.target
# a node is prepared by foresail, as a machine fresh from the distribution's installer would be
rm -f /etc/containerd/config.toml
mkdir -p /lib/modules
: > /etc/machine-id
rm -f /var/lib/dbus/machine-id
`;
