# shellcheck shell=bash
# The built-in network for flat sites, a small service on each node (docs/adr/0005-bridge-network.md). When the node has
# joined, it waits for the pod CIDR that the controller manager assigns to the node, writes the CNI file from it, adds one
# route for the whole pod network to the node's link, and answers ARP for its own pods. So a machine that is added later
# needs no step on the others.
# Parameters: MACHINE, ADDRESS (by which the other nodes reach this machine), POD_CIDR
configure_bridge() {
  write_file /usr/local/lib/foresail/bridge 0755 <<'PROGRAM'
#!/bin/bash
# foresail: pod network of this node
set -euo pipefail
node=$1 address=$2 pods=$3
device=""
until [ -n "$device" ]; do
  device=$(ip -oneline -4 address show | awk -v address="$address" '{split($4, cidr, "/"); if (cidr[1] == address) print $2}')
  [ -n "$device" ] || sleep 1
done
own=""
until [ -n "$own" ]; do
  own=$(kubectl --kubeconfig /etc/kubernetes/kubelet.conf get node "$node" --output 'jsonpath={.spec.podCIDR}' 2>/dev/null || true)
  [ -n "$own" ] || sleep 1
done
sysctl --quiet --write "net.ipv4.conf.$device.proxy_arp=1" "net.ipv4.neigh.$device.proxy_delay=0"
ip route replace "$pods" dev "$device" src "$address"
ip route replace unreachable "$own"
iptables --wait --table nat --check POSTROUTING --source "$own" ! --destination "$pods" --match comment --comment foresail --jump MASQUERADE 2>/dev/null \
  || iptables --wait --table nat --append POSTROUTING --source "$own" ! --destination "$pods" --match comment --comment foresail --jump MASQUERADE
mtu=$(cat "/sys/class/net/$device/mtu")
mkdir -p /etc/cni/net.d
cat > /etc/cni/net.d/.10-foresail.conflist.new <<JSON
{
  "cniVersion": "0.4.0",
  "name": "foresail",
  "plugins": [
    { "type": "ptp", "mtu": $mtu, "ipam": { "type": "host-local", "ranges": [[{ "subnet": "$own" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
JSON
mv -f /etc/cni/net.d/.10-foresail.conflist.new /etc/cni/net.d/10-foresail.conflist
PROGRAM
  write_file /etc/systemd/system/foresail-bridge.service 0644 <<UNIT
[Unit]
Description=foresail: pod network of this node
After=network-online.target containerd.service

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
Environment=KUBECACHEDIR=/var/lib/foresail/kubectl-cache
ExecStart=/usr/local/lib/foresail/bridge $MACHINE $ADDRESS $POD_CIDR
Restart=on-failure
RestartSec=2
TimeoutStartSec=infinity

[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
  systemctl enable --quiet foresail-bridge
  systemctl start --no-block foresail-bridge
}
