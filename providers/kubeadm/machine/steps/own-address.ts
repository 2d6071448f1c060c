import { quote, writeFile } from "./script";

const UNIT = "/etc/systemd/system/foresail-own-address.service";

/** Adds an address to the loopback device unless a device has it; harmless when it runs twice. */
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
 * Returns shell lines that give a machine the address by which others reach it, when a cloud translates addresses: etcd
 * binds it, and a kubelet accepts no node IP that no device has. Packets of the machine still leave by its own link.
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

/** Returns shell lines that remove the address which holdOwnAddress added, if any. */
export function releaseOwnAddress(): string {
  return `
if [ -e ${UNIT} ]; then
  own=$(sed -n 's/^ExecStart=.* //p' ${UNIT})
  systemctl disable --quiet --now foresail-own-address || true
  ip address delete "$own/32" dev lo 2>/dev/null || true
  rm -f ${UNIT}
fi`.trim();
}
