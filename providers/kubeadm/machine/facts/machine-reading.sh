# shellcheck shell=bash
# needs: common/system common/owner common/software common/disk-space common/before common/preflight
# given: common/kubernetes-packages common/kubernetes-bundle common/preparation common/containerd-settings common/endpoint common/own-address common/bridge facts/planned-preparation
# shellcheck disable=SC2016,SC2031,SC2153,SC2154 # other programs and files fill these in
# Reads what decides whether a machine can become a node, for previews. Only reads: without a lock, a log or a folder on the
# machine. Answers a line "name base64" for each fact; one that can't be read is missing, and then nothing is said about it. A
# member answers no more than that it is one, and a prepared machine only what its preparation did not settle.
# Parameters: those of common/owner and common/preflight, and
#   ADDRESS                     by which the other nodes reach this machine; empty if it is not known
#   PROXY                       list of NAME=value
#   PAGES                       list of "name URL" that its software comes from
#   REPOSITORY                  address of the Kubernetes repository; empty for a bundle
#   GIVEN_BUNDLE                path of a bundle that is there already; empty for none
#   PLANNED                     whether to list what the preparation changes: yes or no; then those of common/preparation, too
#   NEIGHBORS                   list of "machine address port" that it must reach
#   SECONDS_TO_ASK              limit of what leaves the machine
#   MOUNTED                     list of paths whose disks are used
set +e -uo pipefail
umask 077

# one write each, so that what runs beside it does not mix with it
answer() {
  local text
  text=$(base64 -w 0)
  if [ -n "$text" ]; then printf '%s %s\n' "$1" "$text"; fi
}
# Answers with what a command prints; nothing if it fails or is missing: NAME COMMAND...
tell() {
  local name=$1 text
  shift
  text=$("$@" 2>/dev/null) && [ -n "$text" ] || return 0
  if [ "${#text}" -gt "$longest" ]; then text=$(cut_text "$text"); fi
  answer "$name" <<<"$text"
}
# The longest answer of a fact, in bytes.
longest=262144
# Prints the first lines of a text, and then how many are left out, with their sum: TEXT.
cut_text() {
  local shown=${1:0:longest} rest
  shown=${shown%$'\n'*}
  # by its length: bash needs minutes to match a pattern of this size
  rest=${1:${#shown}}
  rest=${rest#$'\n'}
  printf '%s\nmore %s %s\n' "$shown" "$(wc -l <<<"$rest")" "$(sha256sum <<<"$rest" | cut -d ' ' -f 1)"
}
# Answers with the words by which a function of common/ refuses the machine, as its preparation would: NAME FUNCTION ARGUMENT...
tell_refusal() {
  local name=$1 words status
  shift
  words=$(set -e; "$@" 2>/dev/null)
  status=$?
  if [ "$status" = 78 ]; then head -c 4096 <<<"$words" | answer "refusal.$name"; fi
}

tell clock date +%s
if [ -e "$MEMBER_PATH" ]; then echo yes | answer member; exit 0; fi
read_mark
# whose a marked machine is, the stack asks on its own: it may be about to take it over
if [ -z "$claimed_by" ]; then tell_refusal foreign refuse_foreign_machine; fi
tell_refusal system refuse_unsupported_system
tell_refusal processor refuse_unsupported_processor
tell reboot cat /run/reboot-required
tell timeSync timeout 3 timedatectl show --property=NTPSynchronized --value
in_container=no
if systemd-detect-virt --container --quiet; then in_container=yes; fi
echo "$in_container" | answer container
tell machineId cat /etc/machine-id
tell hostName uname -n
if [ "$in_container" = no ]; then tell productId cat /sys/class/dmi/id/product_uuid; fi
tell addresses ip -oneline -4 address show
own_device=$(ip -oneline -4 address show 2>/dev/null | awk -v own="$ADDRESS" '{ split($4, cidr, "/"); if (cidr[1] == own) { print $2; exit } }')
if [ -n "$own_device" ]; then
  tell mtu cat "/sys/class/net/$own_device/mtu"
  # other devices may have addresses that repeat in networks of their own, as those of management controllers do
  tell hardwareAddresses cat "/sys/class/net/$own_device/address"
fi
# The images of a kubeadm that is here and that the preparation would run; "unread" if it does not answer in time.
component_images() {
  local program=$BUNDLE/bin/kubeadm found status=0
  if [ -n "$REPOSITORY" ]; then
    program=/usr/bin/kubeadm
  elif [ -n "$(list_download)" ] || [ ! -f "$BUNDLE/SHA256SUMS" ] || ! (verify_file "$program" bin/kubeadm); then
    return 1
  fi
  [ -x "$program" ] || return 1
  found=$(ask_kubeadm version --output=short) || status=$?
  if [ "$status" = 0 ]; then
    if [ "$found" != "v$VERSION" ]; then return 1; fi
    found=$(list_images ask_kubeadm) || status=$?
  fi
  case $status in 0) echo "$found" ;; 124 | 137) echo unread ;; *) return 1 ;; esac
}
ask_kubeadm() { timeout --kill-after=1 "$SECONDS_TO_ASK" "$program" "$@"; }
images=""
if [ "$PLANNED" = yes ] && images=$(component_images 2>/dev/null); then answer images <<<"$images"; fi
is_prepared=no
if [ -e "$PREPARED_PATH" ]; then is_prepared=yes; echo yes | answer prepared; fi
if [ "$is_prepared" = yes ] && [ "$PLANNED" = no ]; then exit 0; fi
# each question to the packages' programs has a limit
apt-get() { timeout --kill-after=1 "$SECONDS_TO_ASK" apt-get "$@"; }
# apt writes its cache again when that is older than what it is made of
quiet=()
for file in /var/lib/apt/lists /var/lib/dpkg/status; do
  if [ ! /var/cache/apt/pkgcache.bin -nt "$file" ]; then quiet=(-oDir::Cache::pkgcache= -oDir::Cache::srcpkgcache=); fi
done
find_missing_packages
candidates() {
  apt-cache "${quiet[@]}" policy "${missing[@]}" | awk -v names="${missing[*]}" '
    /^[^ ]+:$/ { name = substr($0, 1, length($0) - 1) }
    / Candidate: / && $2 != "(none)" { found[name] = $2 }
    END { for (at = 1; at <= split(names, all, " "); at++) print all[at], found[all[at]] }'
}
if [ "$PLANNED" = yes ]; then tell due list_planned_preparation; fi
# what an earlier preparation or a join left, the next one goes on with
if [ "$is_prepared" = yes ] || [ -n "$claimed_by" ]; then
  if [ -n "${missing[*]}" ]; then tell packages candidates; fi
  exit 0
fi
tell routes ip -4 route show

pretty_system() { (. /etc/os-release; echo "$PRETTY_NAME"); }
tell systemName pretty_system
tell kernel uname -r
tell processor uname -m
tell init sh -c 'test -d /run/systemd/system && echo systemd || echo other'
tell cgroup stat --file-system --format=%T /sys/fs/cgroup
tell controllers cat /sys/fs/cgroup/cgroup.controllers
tell processors nproc --all
tell memory awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo
tell swap awk 'NR > 1 { print $1, $2 }' /proc/swaps
tell limits sysctl --ignore --values kernel.pid_max

# "path MiB inodes type options", of the nearest folder that there is
mounts() {
  local path folder words
  for path in "${MOUNTED[@]}"; do
    folder=$path
    until [ -d "$folder/" ]; do folder=${folder%/*}; done
    words=$(df --block-size=1M --output=avail,iavail "$folder/" | tail -n 1 | xargs) &&
      printf '%s %s %s\n' "$path" "$words" "$(findmnt --noheadings --output FSTYPE,OPTIONS --target "$folder/" | xargs)"
  done
}
tell mounts mounts
tell_refusal disks refuse_full_disks
tell_refusal networks refuse_other_networks
tell_refusal containerd refuse_incomplete_containerd

tell nameServers awk '$1 == "nameserver" { print $2 }' /etc/resolv.conf
tell resolver systemctl is-active systemd-resolved
listening() { ss --no-header --listening --numeric --tcp --udp --processes | awk '{ name = $7; sub(/^users:\(\("/, "", name); sub(/".*/, "", name); print $1, $5, name }'; }
tell listening listening
modules() {
  local name
  for name in overlay br_netfilter nf_conntrack; do
    if [ -d "/sys/module/$name" ]; then echo "$name loaded"; elif modinfo --field filename "$name" >/dev/null 2>&1; then echo "$name available"; else echo "$name missing"; fi
  done
}
if [ "$in_container" = no ]; then
  tell modules modules
  tell modulesDisabled cat /proc/sys/kernel/modules_disabled
fi

tell ufw sh -c 'ufw status | head -n 1'
tell firewalld systemctl is-active firewalld
# the programs load modules of the kernel when nothing uses these tables yet
drops() {
  if [ -d /sys/module/nf_tables ]; then
    nft list chains | awk '$1 == "table" { family = $2; table = $3 } $1 == "chain" { chain = $2 } /type filter hook input / && /policy drop/ { print family, table, chain }'
  fi
  if grep -qs filter /proc/net/ip_tables_names; then iptables-legacy-save --table filter | awk '$1 == ":INPUT" && $2 == "DROP" { print "ip filter INPUT" }'; fi
}
accepted_ports() {
  if [ -d /sys/module/nf_tables ]; then nft list ruleset; fi
  if grep -qs filter /proc/net/ip_tables_names; then iptables-legacy-save --table filter; fi
}
dropping=$(drops 2>/dev/null | sort -u)
if [ -n "$dropping" ]; then
  answer drops <<<"$dropping"
  accepted_ports 2>/dev/null | grep accept -i | grep -oE 'dports? [^a-z]+' | grep -oE '[0-9]+([-:][0-9]+)?' | sort -u | answer acceptedPorts
fi

tell holds apt-mark showhold
tell halfInstalled sh -c 'dpkg --audit | sed -n "s/^ \([^ ]*\).*/\1/p"'
# the processes that have a lock of apt or dpkg
package_locks() {
  local file inode
  for file in /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock; do
    inode=$(stat --format=%i "$file") || continue
    awk -v inode=":$inode" 'index($6, inode) && substr($6, length($6) - length(inode) + 1) == inode && $2 != "->" { print $5 }' /proc/locks |
      while read -r process; do echo "$process $(tr -d '\n' <"/proc/$process/comm")"; done
  done | sort -u
}
tell packageLocks package_locks
distributions() {
  local unit
  for unit in k3s k3s-agent rke2-server rke2-agent k0scontroller k0sworker snap.microk8s.daemon-kubelite snap.kubelet-eks.daemon; do
    if systemctl is-active --quiet "$unit"; then echo "$unit"; fi
  done
}
tell distributions distributions
# shellcheck disable=SC2016 # the shell that it starts fills it in
tell runtimes bash -c 'for socket in /run/crio/crio.sock /run/cri-dockerd.sock; do if [ -S "$socket" ]; then echo "$socket"; fi; done'
tell kubelet systemctl is-active kubelet
tell apparmor sh -c 'test "$(cat /sys/module/apparmor/parameters/enabled)" = Y && { command -v apparmor_parser >/dev/null && echo parser || echo "no parser"; }'
tell selinux cat /sys/fs/selinux/enforce
# settings of others that the system loads after foresail's own, and that turn off what pods need
later_settings() {
  local file
  for file in /etc/sysctl.conf /etc/sysctl.d/*.conf /usr/lib/sysctl.d/*.conf /run/sysctl.d/*.conf; do
    case ${file##*/} in 90-foresail.conf) continue ;; esac
    if [[ ${file##*/} < 90-foresail.conf ]] && [ "$file" != /etc/sysctl.conf ]; then continue; fi
    grep -HE '^[[:space:]]*-?(net\.ipv4\.ip_forward|net\.ipv4\.conf\.all\.forwarding|net\.bridge\.bridge-nf-call-iptables)[[:space:]]*=[[:space:]]*0' "$file"
  done
}
tell laterSettings later_settings
automatic_reboots() { apt-config dump Unattended-Upgrade::Automatic-Reboot | grep -oE '"(true|1)"'; }
tell automaticReboots automatic_reboots
tell cloudInit sh -c 'cloud-init status | sed -n "s/^status: //p"'
if [ -n "$GIVEN_BUNDLE" ]; then tell bundle sh -c 'test -e "$1" && echo there || echo missing' sh "$GIVEN_BUNDLE"; fi
keeps() {
  local package
  package=$(containerd_package)
  if [ "$package" != containerd ]; then echo "the package $package as its containerd"; fi
  if has_containerd_file; then echo "the settings of its /etc/containerd/config.toml"; fi
}
tell keeps keeps

# what takes longer runs beside each other, and each has a limit
if [ -n "${missing[*]}" ]; then
  tell packages candidates &
  tell_refusal installation refuse_installation "${quiet[@]}" &
fi
# whether the lists of packages are those that the repositories have now: the installation reads them again. What is not
# compared counts as older: a list beyond the eighth, and one whose address has a password.
package_lists() {
  local page name found asked=0
  found=$(
    while read -r page name; do
      asked=$((asked + 1))
      if [ "$asked" -gt 8 ] || [[ $page == *@* ]]; then echo older; continue; fi
      {
        if timeout "$SECONDS_TO_ASK" curl --config - --silent --fail --location <<<"url = \"$page\"" | cmp --silent - "/var/lib/apt/lists/$name"; then echo same; else echo older; fi
      } &
    done < <(apt-get --print-uris update | sed -nE "s/^'(https?:[^']*InRelease)' ([^ ]+) .*/\\1 \\2/p")
    wait
  )
  if [ -n "$found" ] && ! grep -q older <<<"$found"; then echo current; fi
}
# the first list of packages that apt would read, by apt's own way
distribution_page() { apt-get --print-uris update | sed -nE "s/^'(https?:[^']*)InRelease' .*/\\1InRelease/p" | head -n 1; }
distribution_proxy() { apt-config dump "Acquire::$1::Proxy" | sed -nE 's/^[^ ]+ "(.*)";$/\1/p' | grep -vix direct; }
export_proxy "${PROXY[@]}"
if [ "$PLANNED" = yes ] && [ -n "${missing[*]}" ] && command -v curl >/dev/null; then tell packageLists package_lists & fi
# Prints the status of a page, or why there is none: URL. A signed address may not be asked for its head.
ask_page() {
  local host port words status
  if command -v curl >/dev/null; then
    # the address may have a signature or a password in it
    words=$(curl --config - --silent --show-error --location --range 0-0 --max-filesize 1000000 --output /dev/null --write-out '%{http_code}' --max-time "$SECONDS_TO_ASK" 2>&1 <<<"url = \"$1\"")
    status=$?
    case $status in
    # 60: of an authority that the machine may get first; 63: longer than is wanted, and there
    60) echo connected ;;
    0 | 63) echo "${words##*$'\n'}" ;;
    28) echo timeout ;;
    *) printf '%s' "failed ${words%000}" | tr '\n' ' ' ;;
    esac
    return 0
  fi
  # a new machine may have no curl; through a proxy, nothing else tells
  if [ -n "${PROXY[*]}" ]; then return 1; fi
  host=${1#*://} port=443
  if [[ $1 == http:* ]]; then port=80; fi
  host=${host%%/*}
  if [[ $host == *:* ]]; then port=${host##*:} host=${host%:*}; fi
  words=$(timeout "$SECONDS_TO_ASK" bash -c 'exec 3<>"/dev/tcp/$1/$2"' bash "$host" "$port" 2>&1)
  status=$?
  case $status in 0) echo connected ;; 124) echo timeout ;; *) echo "failed ${words##*: }" ;; esac
}
if [ -n "${missing[*]}" ]; then
  page=$(distribution_page 2>/dev/null)
  own_proxy=$(distribution_proxy "${page%%:*}" 2>/dev/null)
  # apt logs in by itself
  if [ -n "$page" ] && [[ $page != *@* ]] && [ -z "$own_proxy" ]; then tell page.distribution ask_page "$page" & fi
fi
# nothing is asked of the repository if the packages are there
installed=$(dpkg-query --show --showformat '${Version}\n' kubeadm kubelet kubectl 2>/dev/null | grep -c "^$VERSION-")
for page in "${PAGES[@]}"; do
  if [ "${page%% *}" = repository ] && [ "$installed" = 3 ]; then continue; fi
  tell "page.${page%% *}" ask_page "${page#* }" &
done
# those of the version, then the last ones
repository_versions() {
  curl --silent --fail --location --max-time "$SECONDS_TO_ASK" "${REPOSITORY}Packages" |
    awk -v wanted="$VERSION-" '$1 == "Package:" { name = $2 } $1 == "Version:" && (name == "kubeadm" || name == "kubelet" || name == "kubectl") {
      if (index($2, wanted) == 1) print name, $2; else last[++count] = name " " $2
    }
    END { for (at = count > 24 ? count - 23 : 1; at <= count; at++) print last[at] }'
}
if [ -n "$REPOSITORY" ] && [ "$installed" != 3 ] && command -v curl >/dev/null; then tell repositoryVersions repository_versions & fi
neighbor() {
  local words status
  words=$(timeout 2 bash -c 'exec 3<>"/dev/tcp/$1/$2"' bash "$1" "$2" 2>&1)
  status=$?
  case $status in 0) echo connected ;; 124) echo timeout ;; *) echo "${words##*: }" ;; esac
}
for each in "${NEIGHBORS[@]}"; do
  read -r name address port <<<"$each"
  tell "neighbor.$name" neighbor "$address" "$port" &
done
wait
