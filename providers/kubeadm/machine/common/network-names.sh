# shellcheck shell=bash
# What pod networks leave on a machine, by the names that they give it: those of kube-proxy, of CNI's own plugins, of
# foresail's network, and of the presets: flannel (pkg/trafficmngr, pkg/backend), Calico (felix/rules, felix/ipsets,
# felix/dataplane/linux/dataplanedefs) and Cilium (linux_defaults, cilium-dbg's cleanup). Other software uses some of these
# names, too, so what a machine had before foresail claimed it is on record, and stays.
# shellcheck disable=SC2034 # common/pod-networks reads the others

own_chains='(KUBE-|CNI-|FLANNEL-|cali-|(OLD_)?CILIUM_)'
# as "TABLE LINE OF iptables-save"
own_rules="^[a-z]+ (:$own_chains|-A $own_chains|.* -[jg] $own_chains|.* --comment (foresail( |\$)|\"?(cali:|cilium[ :]|flanneld )))"
own_sets='^(KUBE-|cali[46]|cilium_)'
own_tables='^(ip|ip6|inet) (kube-proxy|calico|flannel-ipv4|flannel-ipv6)$'
# as "NAME MASTER"; no other software has devices of these names
own_devices='^(cni0|flannel(\.[0-9]+|-v6\.[0-9]+|-wg(-v6)?|\.ipip|[0-9]+)|vxlan(-v6)?\.calico|wireguard\.cali|wg-v6\.cali|bpf(in|out)\.cali|cilium_[a-z0-9]+|lxc_health|kube-ipvs0) '
# those of pods: CNI's plugins give their names to all that use them, on a bridge of their own
pod_devices='^((cali[0-9a-f]{11}|lxc[0-9a-f]{5,12}) |veth[0-9a-f]{8} (-|cni0)$)'
own_folders=(/etc/cni /etc/cni/net.d /opt/cni /opt/cni/bin /var/lib/cni /var/lib/calico /var/lib/cilium /var/log/calico /run/flannel /run/cilium /run/calico /run/nodeagent)

# Lists devices, "NAME MASTER" a line with - for no master: ARGUMENT... (those of ip link show).
list_devices() {
  { ip -oneline link show "$@" 2>/dev/null || true; } | awk '{
    split($2, name, "[:@]"); master = "-"
    for (field = 3; field < NF; field++) if ($field == "master") master = $(field + 1)
    print name[1], master }'
}

# Lists rules and chains of pods, "TABLE LINE" a line without counters: KIND (such as ip6tables-nft).
list_rules() {
  # the programs of the older kind load modules of the kernel when they look
  if ! command -v "$1-save" >/dev/null || { [[ $1 == *-legacy ]] && ! grep -qs . "/proc/net/${1%tables-legacy}_tables_names"; }; then return 0; fi
  "$1-save" 2>/dev/null | awk '/^\*/ { table = substr($0, 2) } /^[:-]/ { sub(/ \[[0-9]+:[0-9]+\]$/, ""); print table, $0 }' | grep -E -- "$own_rules" || true
}

# Lists sets of addresses of pods, and their tables of nftables, "FAMILY NAME" a line.
list_sets() { ipset list --name 2>/dev/null | grep -E "$own_sets" || true; }
list_tables() { nft list tables 2>/dev/null | sed 's/^table //' | grep -E "$own_tables" || true; }

# Lists routes as `ip route delete` takes them: FAMILY ARGUMENT... (such as -4 table all).
list_routes() { ip "$1" -oneline route show "${@:2}" 2>/dev/null | sed -E 's/\\//g; s/ (linkdown|dead)( |$)/ /g; s/[[:space:]]+/ /g; s/ $//' || true; }

# Lists rules that choose a table of routes: FAMILY.
list_choices() { ip "$1" rule show 2>/dev/null | sed -E 's/[[:space:]]+/ /g; s/ $//' || true; }

# Lists what of all this a machine has, each line after its kind, for the record.
list_network() {
  local kind folder
  list_devices | grep -E "$pod_devices" | sed 's/^/device /' || true
  # the kernel's own device of a module, which is there for good
  list_devices up dev tunl0 | sed 's/^/device /'
  for kind in {ip,ip6}tables-{nft,legacy}; do list_rules "$kind" | sed "s/^/$kind /"; done
  list_sets | sed 's/^/set /'
  list_tables | sed 's/^/table /'
  for kind in -4 -6; do
    list_routes "$kind" table all | sed "s/^/route$kind /"
    list_choices "$kind" | sed "s/^/choice$kind /"
  done
  for folder in "${own_folders[@]}"; do [ ! -d "$folder" ] || printf 'folder %s\n' "$folder"; done
}

# Leaves out of a list what the machine had before: KIND.
without_those_before() { grep -vxFf <(sed -n "s/^$1 //p" "$BEFORE_PATH/network" 2>/dev/null) || true; }

# Tells whether the machine had this before, as far as there is a record: KIND LINE.
was_there() { grep -qsxF -- "$1 $2" "$BEFORE_PATH/network"; }
