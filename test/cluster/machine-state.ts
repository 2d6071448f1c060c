import type { TestCluster } from "./test-cluster";

/** Where files are that are not logs, caches, packages or images. */
const FOLDERS = "/etc /usr/local /opt /root /home /var/lib/cni /var/lib/calico /var/lib/cilium";

/** What a pod network and a step of foresail can change on a machine: the command that lists each kind, sorted. */
const LISTS = {
  devices: "ip -oneline link show | sed -E 's/^[0-9]+: ([^:@]+)[^:]*: <([^>]*)>.*/\\1 \\2/'",
  addresses: "ip -oneline address show | awk '{ print $2, $3, $4 }'",
  routes: "for family in -4 -6; do ip $family route show table all; done | sed -E 's/ expires [0-9]+sec//'",
  "rules for routes": "for family in -4 -6; do ip $family rule show; done",
  // tables and chains that are empty are those of the kernel
  "rules of the firewall": `for kind in iptables-nft iptables-legacy ip6tables-nft ip6tables-legacy; do
      $kind-save 2>/dev/null | sed -E -n '/^\\*/h; s/ \\[[0-9:]+\\]$//; /^:[A-Z]+ ACCEPT$/d; /^[:-]/{G; s/\\n/ /; p}'; done`,
  // those that the kernel changes by itself are left out
  settings:
    "sysctl --all 2>/dev/null | grep '^net\\.' | grep -v -E 'nf_conntrack_count|stable_secret|tcp_fastopen_key'",
  swap: "swapon --noheadings --raw --show=NAME",
  // programs that stay
  files: `find ${FOLDERS} -xdev ! -type d ! -path '/usr/local/bin/kube*' -printf '%p %m %u:%g %l\\n' 2>/dev/null
      find ${FOLDERS} -xdev -type f ! -path '/usr/local/bin/kube*' -exec sha256sum {} + 2>/dev/null`,
  // the unit of the dirt that locks lists of packages ends by itself
  units: `systemctl list-unit-files --no-legend --no-pager | awk '$2 !~ /transient|generated/ { print $1, $2 }'
      systemctl list-units --type=service --state=running --no-legend --plain --no-pager | awk '{ print $1 }' | grep -v -E '@|^apt-of-others'`,
  packages: "dpkg --get-selections; apt-mark showhold | sed 's/^/on hold: /'",
} as const;

/** A machine's lists by kind: how often it has each line, and the line. */
type MachineState = Record<string, string[]>;

/** Returns what differs between two lists of a machine, one a line. */
export function stateDifferences(before: MachineState, after: MachineState): string[] {
  const only = (sign: string, kind: string, lines: string[] = [], others: string[] = []) =>
    lines.filter((line) => !others.includes(line)).map((line) => `${sign} ${kind}: ${line.trim()}`);
  return Object.entries(before).flatMap(([kind, lines]) => [
    ...only("-", kind, lines, after[kind]),
    ...only("+", kind, after[kind], lines),
  ]);
}

/** Lists what a machine has, for a comparison of before and after. */
export async function machineState(cluster: TestCluster, machine: string): Promise<MachineState> {
  const script = Object.entries(LISTS).map(
    ([kind, list]) => `echo "== ${kind}"\n{ ${list}\n} | sort | uniq --count || true`,
  );
  const sections = (await cluster.fleet.execute(machine, script.join("\n"))).split(/^== /m).slice(1);
  return Object.fromEntries(
    sections.map((section) => {
      const [kind = "", ...lines] = section.split("\n");
      return [kind, lines.filter((line) => line !== "")];
    }),
  );
}
