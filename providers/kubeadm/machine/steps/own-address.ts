import { quote, writeFile } from "./script";

const UNIT = "/etc/systemd/system/foresail-own-address.service";

/** Puts an address on the loopback device unless a device has it; harmless when it runs twice. */
const PROGRAM = `#!/bin/bash
# foresail: the address by which the other nodes reach this one
set -euo pipefail
if ! ip -oneline -4 address show | awk '{print $4}' | grep --quiet "^$1/"; then
  ip address add "$1/32" dev lo
fi
`;

function unit(address: string): string {
  return `[Unit]
Description=foresail: the address by which the other nodes reach this one
After=network-online.target
Before=kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/lib/foresail/own-address ${address}

[Install]
WantedBy=multi-user.target
`;
}

/**
 * Shell lines that let a machine have the address by which others reach it, when a cloud translates it on the way: etcd
 * binds it, and a kubelet takes no node IP that no device has. What the machine sends still goes out by its own link.
 */
export function holdOwnAddress(address: string): string {
  return [
    "mkdir -p /usr/local/lib/foresail",
    writeFile("/usr/local/lib/foresail/own-address", PROGRAM, "0755"),
    writeFile(UNIT, unit(address), "0644"),
    "systemctl daemon-reload",
    `systemctl enable --quiet --now ${quote("foresail-own-address")}`,
  ].join("\n");
}

/** Shell lines that take from a machine the address that it was given; nothing happens on one that was given none. */
export function releaseOwnAddress(): string {
  return `
if [ -e ${UNIT} ]; then
  own=$(sed -n 's/^ExecStart=.* //p' ${UNIT})
  systemctl disable --quiet --now foresail-own-address || true
  ip address delete "$own/32" dev lo 2>/dev/null || true
  rm -f ${UNIT}
fi`.trim();
}
