import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  machineReadingScript,
  parseMachineReading,
  type ReadFor,
} from "../../../../../providers/kubeadm/machine/facts/machine-reading";
import { exampleMachine, exampleSpecification } from "./examples";
import { ShellMachine } from "./run-shell";

/** Returns what a test wants of a machine. */
export const wanted = (over: Partial<ReadFor> = {}): ReadFor => ({
  specification: exampleSpecification(),
  machine: exampleMachine("cp-1"),
  podNetwork: "bridge",
  internalAddress: "10.0.0.11",
  backends: [{ name: "cp-1", address: "10.0.0.11" }],
  ...over,
});

/** Programs of a machine whose answers a test chooses. */
export function readableMachine(): ShellMachine {
  const host = new ShellMachine();
  const programs = {
    "systemd-detect-virt": "exit 1",
    timedatectl: "echo no",
    uname: "case $1 in -m) echo x86_64 ;; -n) echo host-1 ;; *) echo 6.1.0 ;; esac",
    ip: `case "$*" in *address*) echo '2: eth0    inet 10.0.0.11/24 scope global eth0' ;; *) echo 'default via 10.0.0.1 dev eth0' ;; esac`,
    nproc: "echo 1",
    df: 'echo "Avail IFree"; echo "40000 500000"',
    findmnt: "echo ext4 rw,noexec",
    ss: `echo 'tcp LISTEN 0 4096 0.0.0.0:10250 0.0.0.0:* users:(("kubelet",pid=7,fd=3))'`,
    modinfo: "exit 1",
    ufw: "echo Status: active",
    "apt-mark": "echo conntrack",
    dpkg: "printf 'The following:\\n halfway a package\\n'",
    "dpkg-query": "exit 1",
    "apt-cache":
      "printf 'containerd:\\n  Installed: (none)\\n  Candidate: 1.2-3\\nsocat:\\n  Candidate: (none)\\n'",
    "apt-get": "exit 0",
    "apt-config": `echo 'Unattended-Upgrade::Automatic-Reboot "true";'`,
    systemctl: '[ "${@: -1}" = k3s ]',
    "cloud-init": "echo status: running",
    curl: 'case "$*" in *Packages) printf "Package: kubeadm\\nVersion: 1.36.3-1.1\\n" ;; *) printf 403 ;; esac',
  };
  for (const [name, text] of Object.entries(programs)) host.program(name, text);
  host.write("/etc/os-release", 'ID=rocky\nVERSION_ID=9\nPRETTY_NAME="Rocky Linux 9"\n');
  host.write("/etc/machine-id", "abc\n");
  host.write("/etc/resolv.conf", "search example.com\nnameserver 127.0.0.1\n");
  host.write("/etc/sysctl.d/99-hardening.conf", "net.ipv4.ip_forward = 0\n");
  host.write("/etc/sysctl.d/10-network.conf", "net.ipv4.ip_forward = 0\n");
  return host;
}

/** Reads a machine. @param edit changes the script */
export function readMachine(
  host: ShellMachine,
  over: Partial<ReadFor> = {},
  edit: (script: string) => string = (script) => script,
) {
  const text = edit(machineReadingScript(wanted(over)).text).replace(
    /(?<![\w.}])\/(etc|run|opt|usr\/local|var)\//g,
    `${host.root}/$1/`,
  );
  const own = text.replace(/export PATH=\S+/, `export PATH=${host.path("programs")}:${process.env["PATH"]}`);
  const { stdout, stderr, status } = spawnSync("bash", ["-s"], {
    input: own,
    encoding: "utf8",
    timeout: 30_000,
  });
  assert.equal(status, 0, stderr);
  return parseMachineReading(stdout, Date.now());
}
