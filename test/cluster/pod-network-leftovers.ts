/** Commands that add devices. */
export const bridges = (...names: string[]) =>
  names.map((name) => `ip link add ${name} type bridge`).join("; ");

/** What each network leaves, as its own source makes it, in commands; the kind of a device does not matter here. */
export const LEFTOVERS = {
  "the built-in network": `ip link set eth0 up; ip address add 198.51.100.7/24 dev eth0
    ip link add veth0123abcd type veth peer name inside
    ip route add 10.244.0.0/16 dev eth0 src 198.51.100.7; ip route add unreachable 10.244.3.0/24
    iptables -t nat -A POSTROUTING -s 10.244.3.0/24 ! -d 10.244.0.0/16 -m comment --comment foresail -j MASQUERADE
    iptables -I FORWARD -s 10.244.0.0/16 -m comment --comment foresail -j ACCEPT
    iptables -t nat -N CNI-0123456789abcdef01234567; iptables -t nat -A CNI-0123456789abcdef01234567 -d 10.244.3.2/24 -m comment --comment 'name: "foresail" id: "0a"' -j ACCEPT
    iptables -t nat -A POSTROUTING -s 10.244.3.2/32 -m comment --comment 'name: "foresail" id: "0a"' -j CNI-0123456789abcdef01234567
    iptables -t nat -N CNI-HOSTPORT-SETMARK; iptables -t nat -A CNI-HOSTPORT-SETMARK -j MARK --set-xmark 0x2000/0x2000
    iptables -t nat -A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-SETMARK; ip address delete 198.51.100.7/24 dev eth0; ip link set eth0 down`,
  flannel: `${bridges("cni0", "flannel.1", "flannel0", "flannel-v6.1", "flannel-wg", "flannel-wg-v6", "flannel.ipip")}
    ip link add veth0123abcd type veth peer name inside; ip link set veth0123abcd master cni0
    ip -6 route add unreachable fd00:244:0:1::/64
    iptables -t nat -N FLANNEL-POSTRTG; iptables -t nat -A POSTROUTING -m comment --comment "flanneld masq" -j FLANNEL-POSTRTG
    iptables -N FLANNEL-FWD; iptables -A FORWARD -m comment --comment "flanneld forward" -j FLANNEL-FWD
    ip6tables -N FLANNEL-FWD; ip6tables -A FORWARD -m comment --comment "flanneld forward" -j FLANNEL-FWD`,
  Cilium: `${bridges("cilium_host", "cilium_vxlan", "cilium_wg0", "lxc_health", "lxc0123456789ab")}
    ip rule add preference 1 fwmark 0xe00/0xf00 lookup 201; ip -6 rule add preference 1 fwmark 0xe00/0xf00 lookup 201
    ip rule add preference 9 fwmark 0x200/0xf00 lookup 2004; ip route add local default dev lo table 2004
    ip rule add preference 100 lookup local; ip rule delete preference 0 lookup local
    iptables -N CILIUM_FORWARD; iptables -A FORWARD -m comment --comment "cilium-feeder: CILIUM_FORWARD" -j CILIUM_FORWARD
    iptables -A CILIUM_FORWARD -m comment --comment "cilium: any->cluster on cilium_host forward accept" -j ACCEPT`,
  Calico: `${bridges("cali0123456789a", "vxlan.calico", "vxlan-v6.calico", "wireguard.cali", "wg-v6.cali", "bpfin.cali", "bpfout.cali")}
    ip route add blackhole 10.244.7.0/26 proto 80; ip -6 route add blackhole fd00:10:244::/64 proto 80
    iptables -N cali-FORWARD; iptables -N cali-INPUT; iptables -A cali-FORWARD -j cali-INPUT
    iptables -A INPUT -m comment --comment "cali:Cz_u1IQiXIMmKD4c" -j cali-INPUT
    iptables -A FORWARD -m comment --comment "cali:S93hcgKJrXEqnTfs" -m mark --mark 0x10000/0x10000 -j ACCEPT`,
  "kube-proxy": `${bridges("kube-ipvs0")}; iptables -t nat -N KUBE-SERVICES; iptables -N KUBE-PROXY-FIREWALL; iptables -N KUBE-FORWARD
    iptables -t nat -A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
    iptables -A INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
    iptables -A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD`,
} satisfies Record<string, string>;
