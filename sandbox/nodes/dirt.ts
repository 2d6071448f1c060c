/** One way in which people's machines differ from a fresh one. */
export interface Dirt {
  /** What the machine has, for --help. */
  readonly summary: string;
  /** Runs as root with sh on the fresh node. */
  readonly script: string;
  /** What foresail says when it refuses such a machine; without it, the machine joins. */
  readonly refusal?: RegExp;
}

const LOGIN = "/home/foresail";
const PROXY = "http://192.0.2.1:3128";

/** Makes a package on the node: NAME FIELDS (more lines of its control file). Its files are below /tmp/NAME. */
const PACKAGE = `package() {
  mkdir -p "/tmp/$1/DEBIAN"
  printf 'Package: %s\\nVersion: 1.7.27-1\\nArchitecture: all\\nMaintainer: vendor <vendor@example.com>\\n%bDescription: of a vendor\\n' "$1" "$2" >"/tmp/$1/DEBIAN/control"
  dpkg-deb -Znone --build "/tmp/$1" "/tmp/$1.deb" >/dev/null
}
`;
const VENDOR = "Provides: containerd, runc\\nConflicts: containerd, runc\\nReplaces: containerd, runc\\n";

/** Kinds of dirt by name. A new kind is one entry here: test/e2e/dirty-machines.test.ts has it at once. */
export const DIRT: Readonly<Record<string, Dirt>> = {
  greeting: {
    summary: "a shell that greets at each login",
    script: `sed -i '1i echo "Welcome. Authorized use only."; printf "{no end"' ${LOGIN}/.bashrc`,
  },
  proxy: {
    summary: "a proxy that does not answer, for login sessions, sudo and all units",
    script: `printf '%s\\n' http_proxy=${PROXY} https_proxy=${PROXY} HTTPS_PROXY=${PROXY} >>/etc/environment
echo 'export HTTP_PROXY=${PROXY} https_proxy=${PROXY}' | sed -i '1r /dev/stdin' ${LOGIN}/.bashrc
echo 'Defaults env_keep += "http_proxy https_proxy HTTP_PROXY HTTPS_PROXY"' >/etc/sudoers.d/50-proxy
printf 'proxy = "${PROXY}"\\n' >/root/.curlrc
mkdir -p /etc/systemd/system.conf.d
printf '[Manager]\\nDefaultEnvironment=HTTPS_PROXY=${PROXY} https_proxy=${PROXY}\\n' >/etc/systemd/system.conf.d/proxy.conf
systemctl daemon-reexec`,
  },
  docker: {
    summary: "Docker's firewall and bridge",
    script: `iptables -P FORWARD DROP
iptables -N DOCKER-USER; iptables -N DOCKER; iptables -A FORWARD -j DOCKER-USER; iptables -A FORWARD -o docker0 -j DOCKER
iptables -t nat -N DOCKER; iptables -t nat -A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE
ip link add docker0 type bridge; ip address add 172.17.0.1/16 dev docker0; ip link set docker0 up`,
  },
  "half-configured": {
    summary: "a package that an ended installation left halfway",
    script: `${PACKAGE} package halfway ''; dpkg --unpack /tmp/halfway.deb >/dev/null; rm -rf /tmp/halfway*`,
  },
  "docker-damaged": {
    summary: "packages of Docker's vendor whose programs are gone",
    script: `${PACKAGE} package containerd.io '${VENDOR}'; dpkg --purge --force-depends containerd runc >/dev/null 2>&1; dpkg --install /tmp/containerd.io.deb >/dev/null; rm -rf /tmp/containerd.io*`,
    refusal:
      /the package containerd\.io provides containerd on this machine, but there is no program containerd/,
  },
  "excluded-packages": {
    summary: "a package that excludes one that nodes need",
    script: `${PACKAGE} package relay 'Conflicts: socat\\n'; package socat ''
dpkg --purge --force-depends socat >/dev/null 2>&1; dpkg --install /tmp/relay.deb >/dev/null
mkdir -p /opt/packages; mv /tmp/socat.deb /opt/packages/
{ cat /tmp/socat/DEBIAN/control; echo "Filename: ./socat.deb"; echo "Size: $(stat --format=%s /opt/packages/socat.deb)"; echo "SHA256: $(sha256sum </opt/packages/socat.deb | cut -d ' ' -f 1)"; } >/opt/packages/Packages
rm -rf /tmp/relay* /tmp/socat /etc/apt/sources.list.d/*; echo 'deb [trusted=yes] file:/opt/packages ./' >/etc/apt/sources.list; apt-get update >/dev/null`,
    refusal: /would remove these packages from this machine: relay\..*apt-get remove relay/,
  },
  "forward-drop": {
    summary: "a hardened firewall that drops and rejects forwarded packets",
    script: "iptables -P FORWARD DROP; iptables -A FORWARD -j REJECT --reject-with icmp-host-prohibited",
  },
  "secure-path": {
    summary: "a sudo without /usr/local/bin in its path, as on RHEL",
    script: `echo 'Defaults secure_path="/sbin:/bin:/usr/sbin:/usr/bin"' >/etc/sudoers.d/50-path`,
  },
  "noexec-tmp": { summary: "no programs in /tmp", script: "mount -o remount,noexec,nosuid,nodev /tmp" },
  hostname: {
    summary: "a host name with dots and upper-case letters",
    script: "hostname Worker.Example.COM; hostname >/etc/hostname",
  },
  "dead-dns": {
    summary: "a name server that does not answer",
    script: "printf 'nameserver 192.0.2.53\\noptions timeout:1 attempts:1\\n' >/etc/resolv.conf",
  },
  "locked-lists": {
    summary: "a missing package, and another program that locks the lists of packages until it is waited for",
    script: `mkdir -p /opt/packages/socat/DEBIAN; cd /opt/packages
for file in $(dpkg --listfiles socat); do [ ! -f "$file" ] || { mkdir -p "socat\${file%/*}"; cp --archive "$file" "socat$file"; }; done
dpkg-query --show --showformat 'Package: \${Package}\\nVersion: \${Version}\\nArchitecture: \${Architecture}\\nMaintainer: sandbox <sandbox@example.com>\\nDescription: as before\\n' socat >socat/DEBIAN/control
dpkg --purge --force-depends socat >/dev/null 2>&1
dpkg-deb -Znone --build socat >/dev/null
{ cat socat/DEBIAN/control; echo "Filename: ./socat.deb"; echo "Size: $(stat --format=%s socat.deb)"; echo "SHA256: $(sha256sum <socat.deb | cut -d ' ' -f 1)"; } >Packages
rm -rf socat /etc/apt/sources.list.d/*; echo 'deb [trusted=yes] file:/opt/packages ./' >/etc/apt/sources.list
cat >/opt/packages/lock.pl <<'PERL'
use Fcntl; open(my $lock, '+>', '/var/lib/apt/lists/lock') or die;
fcntl($lock, F_SETLK, pack('s s x4 q q i x4', F_WRLCK, 0, 0, 0, 0)) or die "lock: $!";
for (1..600) { last if !system('grep -qs "waits for the packages. lock" /var/log/foresail/prepare.log'); select(undef, undef, undef, 0.5); }
PERL
systemd-run --quiet --unit=apt-of-others perl /opt/packages/lock.pl`,
  },
  held: { summary: "packages on hold", script: "apt-mark hold containerd iptables curl >/dev/null" },
  "docker-packages": {
    summary: "the packages of Docker's vendor, whose containerd.io excludes the distribution's containerd",
    script: `${PACKAGE}
for file in $(dpkg --listfiles containerd runc | sort -u); do [ ! -f "$file" ] || case $file in /etc/* | /usr/share/*) ;; *) mkdir -p "/tmp/containerd.io\${file%/*}"; cp --archive "$file" "/tmp/containerd.io$file" ;; esac; done
mkdir -p /tmp/containerd.io/etc/containerd /tmp/containerd.io/DEBIAN
echo 'disabled_plugins = ["cri"]' >/tmp/containerd.io/etc/containerd/config.toml
echo /etc/containerd/config.toml >/tmp/containerd.io/DEBIAN/conffiles
package containerd.io '${VENDOR}'; package docker-ce 'Depends: containerd.io\\n'
dpkg --purge --force-depends,hold containerd runc >/dev/null 2>&1
rm -rf /etc/containerd; dpkg --install /tmp/containerd.io.deb /tmp/docker-ce.deb >/dev/null
systemctl daemon-reload; systemctl enable --now containerd; rm -rf /tmp/containerd.io* /tmp/docker-ce*`,
  },
  "containerd-file": {
    summary: "a configuration of containerd with another runtime, and without the plugin for pods",
    script: `printf '%s\n' 'version = 2' 'disabled_plugins = ["io.containerd.grpc.v1.cri"]' '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.other]' '  runtime_type = "io.containerd.runc.v2"' >/etc/containerd/config.toml`,
  },
  cni: {
    summary: "the pod network of an earlier cluster",
    script: `mkdir -p /etc/cni/net.d
echo '{"cniVersion":"0.4.0","name":"old","plugins":[{"type":"ptp","ipam":{"type":"host-local","subnet":"10.99.0.0/24"}}]}' >/etc/cni/net.d/05-old.conflist`,
    refusal: /05-old\.conflist configures another pod network/,
  },
  "earlier-cluster": {
    summary: "files of an earlier cluster",
    script: "mkdir -p /etc/kubernetes/manifests; echo old >/etc/kubernetes/kubelet.conf",
    refusal: /contains files that foresail did not create/,
  },
  "full-log": {
    summary: "a full disk under /var/log",
    script:
      "mount -t tmpfs -o size=64k tmpfs /var/log; dd if=/dev/zero of=/var/log/full bs=4k 2>/dev/null || true",
    refusal: /No space left on device\. Free space on that disk/,
  },
  "small-disk": {
    summary: "a small disk under /var/lib/kubelet",
    script: "mkdir -p /var/lib/kubelet; mount -t tmpfs -o size=64m tmpfs /var/lib/kubelet",
    refusal: /w-\d+: \/var\/lib\/kubelet has \d+ MiB of free space, and a node needs 1024 MiB there/,
  },
  clock: {
    summary: "a clock that is 3 hours behind, as far as the program date tells",
    // containers share their host's clock
    script: `cat >/usr/local/bin/date <<'DATE'
#!/bin/sh
[ "$*" != +%s ] || exec /bin/date +%s --date '3 hours ago'
exec /bin/date "$@"
DATE
chmod 0755 /usr/local/bin/date`,
    refusal: /the clock of w-\d+ is 3 hours behind the clock here/,
  },
  requiretty: {
    summary: "a sudo that asks for a terminal",
    script: "echo 'Defaults requiretty' >/etc/sudoers.d/50-tty",
    refusal: /you must have a tty to run sudo/,
  },
  "sudo-password": {
    summary: "a sudo that asks for a password",
    script: "echo 'foresail ALL=(ALL) ALL' >/etc/sudoers.d/foresail",
    refusal: /a password is required/,
  },
  "forced-command": {
    summary: "a forced command for the user of the login",
    script: `sed -i 's|^|command="echo Please login as the user debian; exit 142" |' ${LOGIN}/.ssh/authorized_keys`,
    refusal: /Please login as the user debian/,
  },
  nologin: {
    summary: "a user without a login shell",
    script: "usermod --shell /usr/sbin/nologin foresail",
    refusal: /account is currently not available/,
  },
};

/**
 * Returns the kinds of a list like "docker,proxy".
 *
 * @throws Error that names the known kinds
 */
export function parseDirt(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !Object.hasOwn(DIRT, name));
  if (unknown.length === 0) return names;
  throw new Error(`There is no dirt ${unknown.join(", ")}. There is: ${Object.keys(DIRT).join(", ")}.`);
}

/** Returns one line for each kind. */
export const listDirt = (): string =>
  Object.entries(DIRT)
    .map(([name, { summary, refusal }]) => `${name}: ${summary}${refusal ? " (refused)" : ""}`)
    .join("; ");
