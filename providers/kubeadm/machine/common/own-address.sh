# shellcheck shell=bash
# The address by which other nodes reach the machine, when a cloud translates addresses.

# Gives the machine an address: etcd binds it, and a kubelet accepts no node IP that no device has. Packets of the machine
# still leave by its own link.
hold_own_address() {
  # shellcheck disable=SC2016 # the program's own variables
  write_file /usr/local/lib/foresail/own-address 0755 <<'PROGRAM'
#!/bin/bash
# foresail: the address by which the other nodes reach this one
set -euo pipefail
if ! ip -oneline -4 address show | awk '{print $4}' | grep --quiet "^$1/"; then
  ip address add "$1/32" dev lo
fi
PROGRAM
  write_file "$OWN_ADDRESS_UNIT_PATH" 0644 <<UNIT
[Unit]
Description=foresail: the address by which the other nodes reach this one
After=network-online.target
Before=kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/lib/foresail/own-address $1

[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
  systemctl enable --quiet --now foresail-own-address
}

# Removes the address that hold_own_address gave to the loopback device, if any.
release_own_address() {
  local own
  if [ ! -e "$OWN_ADDRESS_UNIT_PATH" ]; then return 0; fi
  own=$(sed -n 's/^ExecStart=.* //p' "$OWN_ADDRESS_UNIT_PATH")
  systemctl disable --quiet --now foresail-own-address || true
  ip address delete "$own/32" dev lo 2>/dev/null || true
  rm -f "$OWN_ADDRESS_UNIT_PATH"
}
