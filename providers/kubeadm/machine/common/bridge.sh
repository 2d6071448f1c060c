# shellcheck shell=bash
# The built-in network for flat sites, a small service on each node (docs/adr/0005-bridge-network.md). When the node has
# joined, it waits for the pod CIDR that the controller manager assigns to the node, writes the CNI file from it, adds one
# route for the whole pod network to the node's link, and answers ARP for its own pods. So a machine that is added later
# needs no step on the others. It accepts forwarded packets of pods, which Docker, ufw and hardened images drop by policy, in the
# tables of iptables and in those that others have made with nftables, and restores what a reload of a firewall or of the network
# removes.
# Parameters: PROXY_NAMES (of common/system), MACHINE, ADDRESS (by which the other nodes reach this machine), POD_CIDR
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
# Runs an iptables program, unless the rule is there: PROGRAM TABLE append|insert CHAIN RULE...
add_rule() {
  local program=$1 table=$2 how=$3 chain=$4
  shift 4
  set -- "$chain" "$@" --match comment --comment foresail
  "$program" --wait --table "$table" --check "$@" 2>/dev/null || "$program" --wait --table "$table" "--$how" "$@"
}

# Lists the programs of the tables that the kernel uses: those of the other kind count only if someone has filled them.
list_iptables() {
  local kind
  echo iptables
  for kind in iptables-legacy iptables-nft; do
    if "$kind-save" 2>/dev/null | grep -q '^\*filter'; then echo "$kind"; fi
  done
}

# Lists the chains of nftables in which others may drop forwarded packets, "FAMILY TABLE CHAIN" a line: an accepted packet still
# passes all other chains of the hook. Those of iptables have upper-case names, and kube-proxy drops only what Services exclude.
list_forward_chains() {
  nft list chains 2>/dev/null | awk '$1 == "table" { family = $2; table = $3 }
    $1 == "chain" { chain = $2 }
    /type filter hook forward / && family ~ /^(ip|inet)$/ && table !~ /^kube-proxy/ && chain !~ /^[A-Z]+$/ { print family, table, chain }'
}

# Accepts the packets of pods in a chain of nftables: FAMILY TABLE CHAIN
accept_in_chain() {
  local rules end
  rules=$(nft list chain "$@") || return 1
  for end in saddr daddr; do
    if ! grep -qF "ip $end $pods accept comment \"foresail\"" <<<"$rules"; then
      nft insert rule "$@" ip "$end" "$pods" accept comment '"foresail"' || return 1
    fi
  done
}

known_closed=""
keep_network() {
  local program chain closed=""
  sysctl --quiet --write "net.ipv4.conf.$device.proxy_arp=1" "net.ipv4.neigh.$device.proxy_delay=0"
  ip route replace "$pods" dev "$device" src "$address"
  ip route replace unreachable "$own"
  add_rule iptables nat append POSTROUTING --source "$own" ! --destination "$pods" --jump MASQUERADE
  for program in $(list_iptables); do
    add_rule "$program" filter insert FORWARD --source "$pods" --jump ACCEPT
    add_rule "$program" filter insert FORWARD --destination "$pods" --jump ACCEPT
  done
  while read -r -a chain; do
    accept_in_chain "${chain[@]}" || closed+=" ${chain[*]};"
  done < <(list_forward_chains)
  if [ "$closed" != "$known_closed" ]; then echo "these chains of nftables take no rules:$closed if they drop packets of $pods, let their owner accept them" >&2; fi
  known_closed=$closed
}
keep_network
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
while sleep 15; do keep_network; done
PROGRAM
  write_file /etc/systemd/system/foresail-bridge.service 0644 <<UNIT
[Unit]
Description=foresail: pod network of this node
After=network-online.target containerd.service
StartLimitIntervalSec=0

[Service]
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
Environment=KUBECACHEDIR=/var/lib/foresail/kubectl-cache
ExecStart=/usr/local/lib/foresail/bridge $MACHINE $ADDRESS $POD_CIDR
UnsetEnvironment=$PROXY_NAMES
Restart=always
RestartSec=2

[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
  systemctl enable --quiet foresail-bridge
  systemctl start --no-block foresail-bridge
}
