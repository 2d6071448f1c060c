# shellcheck shell=bash
# shellcheck disable=SC2154 # common/network-names sets the names
# Removes what pod networks left on a machine, and nothing of others (common/network-names).

# Takes chains and rules away, and leaves all others and their counters as they are.
clear_rules() {
  local kind rules text table command rule name words
  for kind in {ip,ip6}tables-{nft,legacy}; do
    rules=$(list_rules "$kind" | without_those_before "$kind")
    if [ -z "$rules" ]; then continue; fi
    text=$(awk '
      function finish() { if (table != "") printf "%s%s%sCOMMIT\n", deleted, flushed, removed; deleted = flushed = removed = "" }
      $1 != table { finish(); table = $1; print "*" table }
      { chain = substr($2, 1, 1) == ":" ? substr($2, 2) : "" }
      chain != "" { own[table, chain] = 1; flushed = flushed "-F " chain "\n"; removed = removed "-X " chain "\n"; next }
      !((table, $3) in own) { deleted = deleted "-D" substr($0, length($1) + 4) "\n" }
      END { finish() }' <<<"$rules")
    if "$kind-restore" --noflush --wait <<<"$text"; then continue; fi
    # one that it does not take must not keep the others
    while read -r command rule; do
      case $command in
      \**) table=$command ;;
      COMMIT) ;;
      *) "$kind-restore" --noflush --wait <<<"$table"$'\n'"$command $rule"$'\nCOMMIT' || echo "a rule is left: $kind $command $rule" ;;
      esac
    done <<<"$text"
  done
  for name in $(list_sets | without_those_before set); do ipset destroy "$name" || true; done
  while read -r -a words; do nft delete table "${words[@]}" || true; done < <(list_tables | without_those_before table)
  # in chains of others, in which the built-in network accepts packets of pods
  while read -r -a words; do nft delete rule "${words[@]}" || true; done < <(nft --handle list ruleset 2>/dev/null |
    awk '$1 == "table" { table = $2 " " $3 } $1 == "chain" { chain = $2 } / accept comment "foresail"/ { sub(/.*# /, ""); print table, chain, $0 }')
}

# Cilium's and Calico's programs on devices that stay.
clear_programs() {
  local device direction filters preference
  if ! command -v tc >/dev/null; then return 0; fi
  for device in $(list_devices | cut -d ' ' -f 1); do
    filters=""
    for direction in ingress egress; do
      for preference in $(tc filter show dev "$device" "$direction" 2>/dev/null | grep -E ' (cil_|cilium|bpf_(netdev|network|host|overlay)|cali_tc_|calico)' | sed -nE 's/.* pref ([0-9]+) .*/\1/p' | sort -u); do
        filters=removed
        tc filter delete dev "$device" "$direction" pref "$preference" || true
      done
    done
    # what they hung on, when nothing else does
    if [ -n "$filters" ] && [ -z "$(tc filter show dev "$device" ingress; tc filter show dev "$device" egress)" ]; then
      tc qdisc delete dev "$device" clsact || true
    fi
  done
}

# Rules that choose tables of routes, with their tables. Cilium also moves the rule for local addresses.
clear_choices() {
  local family choice table mark moved="100: from all lookup local" own=' fwmark (0x200/0xf00 lookup 2004|0xa00/0xf00 lookup 2005|0xd00/0xf00 lookup 200|0xe00/0xf00 lookup 20[01])( |$)'
  # WireGuard of Calico; other software may number its rules so, too
  if [ -d /var/lib/calico ]; then own+='|^99: .*fwmark .* lookup 1( |$)'; fi
  for family in -4 -6; do
    if list_choices "$family" | grep -xF "$moved" >/dev/null && ! list_choices "$family" | grep '^0:' >/dev/null && ! was_there "choice$family" "$moved"; then
      if ip "$family" rule add preference 0 lookup local; then ip "$family" rule delete preference 100 lookup local || true; fi
    fi
    while read -r choice; do
      table=${choice##* lookup }
      table=${table%% *} mark=${choice##* fwmark }
      # the table first, so that an interrupted reset finds it again
      { list_routes "$family" table all | grep -E " table $table( |\$)" || true; } | without_those_before "route$family" | delete_routes "$family"
      ip "$family" rule delete preference "${choice%%:*}" fwmark "${mark%% *}" lookup "$table" || true
    done < <({ list_choices "$family" | grep -E "$own" || true; } | without_those_before "choice$family")
  done
}

# Deletes routes that are on standard input: FAMILY.
delete_routes() {
  local route
  # shellcheck disable=SC2086 # a route is several words
  while read -r route; do ip "$1" route delete $route || true; done
}

# Routes that are on devices which stay: those to pods, by the ranges of the cluster, and Calico's.
clear_routes() {
  local pods own device family protocols='80'
  # as the unit starts its program: NODE ADDRESS PODS
  read -r _ own pods < <(sed -n 's|^ExecStart=/usr/local/lib/foresail/bridge ||p' /etc/systemd/system/foresail-bridge.service 2>/dev/null) || true
  if [ -n "${own-}" ]; then
    device=$(ip -oneline -4 address show | awk -v address="$own" '{split($4, cidr, "/"); if (cidr[1] == address) print $2}' | head -n 1)
    # the kernel's own values, unless there is a record of others
    if [ -n "$device" ]; then
      sysctl --quiet --ignore --write "net.ipv4.conf.$device.proxy_arp=0" "net.ipv4.neigh.$device.proxy_delay=80" || true
    fi
  fi
  for pods in ${pods-} $(sed -nE 's/^FLANNEL_(IPV6_)?NETWORK=//p' /run/flannel/subnet.env 2>/dev/null | tr ',' ' ') $(sed 's/,/ /g' "$BEFORE_PATH/pods" 2>/dev/null); do
    if ! [[ $pods =~ ^[0-9a-f.:]+/[0-9]+$ ]]; then continue; fi
    family=-4
    if [[ $pods == *:* ]]; then family=-6; fi
    list_routes "$family" root "$pods" | without_those_before "route$family" | delete_routes "$family"
  done
  # other software may run BIRD, too
  if [ -d /var/lib/calico ]; then protocols='(80|bird|12)'; fi
  for family in -4 -6; do
    { list_routes "$family" table all | grep -E " proto $protocols( |\$)" || true; } | without_those_before "route$family" | delete_routes "$family"
  done
}

# Removes the devices, routes, rules and maps of pods.
clear_network() {
  local network device mounted
  for network in /var/run/netns/{cni,cilium}-*; do
    # one of a container that runs is of others: those of pods have ended
    if [ -e "$network" ] && [ -z "$(ip netns pids "${network##*/}" 2>/dev/null)" ]; then ip netns delete "${network##*/}" || true; fi
  done
  clear_routes
  for device in $({ list_devices | grep -E "$own_devices" || true; list_devices | grep -E "$pod_devices" | without_those_before device; } | cut -d ' ' -f 1); do
    # the other end of a pair may be gone with the first
    ip link delete "$device" 2>/dev/null || true
  done
  # the kernel's own device of a module, which can't be deleted
  if [ -e /sys/class/net/tunl0 ] && ! was_there device "tunl0 -"; then
    ip address flush dev tunl0 || true
    ip link set tunl0 down || true
  fi
  clear_rules
  clear_programs
  clear_choices
  while read -r mounted; do umount "$mounted" || umount --lazy "$mounted" || true; done < <(awk '$2 ~ "^/run/(cilium|calico)/" {print $2}' /proc/self/mounts | tac)
  rm -rf /sys/fs/bpf/{cilium,calico} /sys/fs/bpf/tc/globals/{cilium_*,cali_*} 2>/dev/null || true
}

# Removes the networks' files and programs, and gives files of others back that Cilium renamed.
clear_network_files() {
  local file folder name packaged
  for file in /etc/cni/net.d/*.cilium_bak; do
    if [ -e "$file" ] && [ ! -e "${file%.cilium_bak}" ]; then mv "$file" "${file%.cilium_bak}"; fi
  done
  rm -rf /etc/cni/net.d/{10-foresail.conflist,.10-foresail.conflist.new,10-flannel.conflist,05-cilium.conflist,05-cilium.conf,10-calico.conflist,calico-kubeconfig}
  rm -f /etc/sysctl.d/99-zzz-override_cilium.conf
  # containers of others may have their addresses there
  for name in foresail cbr0 k8s-pod-network cilium cni-loopback; do
    rm -rf /var/lib/cni/networks/"$name" /var/lib/cni/{results,cache/results}/"$name"-*
  done
  rm -rf /var/lib/cni/flannel
  if [ -e "$BEFORE_PATH/plugins" ]; then
    # what is in no package came with the network, or is a link of foresail's to one
    packaged=$(dpkg-query --search '/opt/cni/bin/*' 2>/dev/null | sed 's/^.*: //' || true)
    for file in /opt/cni/bin/*; do
      if ! grep -qxF -- "${file##*/}" "$BEFORE_PATH/plugins" && ! grep -qxF -- "$file" <<<"$packaged"; then rm -rf "$file"; fi
    done
  else
    rm -rf /opt/cni/bin/{cilium-cni,calico,calico-ipam}
  fi
  for folder in "${own_folders[@]}"; do
    if was_there folder "$folder"; then continue; fi
    case $folder in
    # what else is in them is of others
    /etc/* | /opt/*) rmdir -- "$folder/net.d" "$folder/bin" "$folder" 2>/dev/null || true ;;
    *) rm -rf --one-file-system "$folder" || echo "$folder is left" ;;
    esac
  done
}
