import { API_SERVER } from "./api-server";
import type { HardeningCheck, Row } from "./check";
import { CLUSTER, CONTROL_PLANE_FILES, CONTROLLERS, ETCD } from "./control-plane";
import { KUBELET, NODE_FILES, POLICIES } from "./nodes";

const rows = (on: HardeningCheck["on"], list: readonly Row[]): HardeningCheck[] =>
  list.map(([id, title, met, note, probe]) => ({
    ...{ id, title, met, note },
    ...(probe === undefined ? {} : { on, probe }),
  }));

/** The checks of the CIS Kubernetes benchmark 1.12, and of section 5 its groups. docs/hardening.md shows them. */
export const HARDENING_CHECKS: readonly HardeningCheck[] = [
  ...rows("control-plane", [...CONTROL_PLANE_FILES, ...API_SERVER, ...CONTROLLERS, ...ETCD, ...CLUSTER]),
  ...rows("machine", NODE_FILES),
  ...rows("kubelet", KUBELET),
  ...rows(undefined, POLICIES),
];

/** Commands of the probes; they only read. */
const PROBES = `set -u
arguments() { tr '\\0' '\\n' <"/proc/$(pidof -s "$1")/cmdline"; }
has() { arguments "$1" | grep -qxF -e "$2"; }
given() { arguments "$1" | grep -q -e "^$2=."; }
absent() { ! arguments "$1" | grep -q -e "^$2="; }
argument() { arguments "$1" | sed -n "s|^$2=||p"; }
admits() { argument kube-apiserver --enable-admission-plugins | tr , '\\n' | grep -qx "$1"; }
denies() { argument kube-apiserver --disable-admission-plugins | tr , '\\n' | grep -qx "$1"; }
existing() { for path in "$@"; do if [ -e "$path" ]; then printf '%s\\n' "$path"; fi; done; }
found() { local paths; mapfile -t paths < <(existing "\${@:2}"); test -n "\${paths[*]}" && test -z "$(find "\${paths[@]}" -type f $1)"; }
private() { found '-perm /077' "$@"; }
owned() { found '( ! -user root -o ! -group root )' "$@"; }
mode() { test "$(stat -c %a "$2")" = "$1"; }
status() { curl --silent --insecure --noproxy '*' --max-time 10 --output /dev/null --write-out '%{http_code}' "https://127.0.0.1:6443$1"; }
anonymous_is_limited() { test "$(status /version)" = 401 && test "$(status /readyz)" = 200; }
configz() { kubectl --kubeconfig /etc/kubernetes/admin.conf --cache-dir /dev/null get --raw "/api/v1/nodes/$NODE/proxy/configz"; }
setting() { grep -q -e "$1" <<<"$CONFIGZ"; }
check() { if ! eval "$2" >/dev/null 2>&1; then printf '%s\\n' "$1"; fi; }
`;

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns a script that prints the numbers of the checks that a machine does not meet, one per line. On a control plane it
 * also asks the kubelets of these nodes.
 */
export function hardeningScript(role: "control-plane" | "worker", nodes: readonly string[] = []): string {
  const checks = (on: HardeningCheck["on"]) =>
    HARDENING_CHECKS.flatMap((check) =>
      check.on === on && check.probe ? [`check ${check.id} ${quote(check.probe)}`] : [],
    );
  const kubelets = nodes.flatMap((node) => [
    `NODE=${quote(node)} CONFIGZ=""`,
    "CONFIGZ=$(configz)",
    ...checks("kubelet"),
  ]);
  const own = role === "control-plane" ? [...checks("control-plane"), ...kubelets] : [];
  return [PROBES, ...checks("machine"), ...own].join("\n");
}

const cell = (text: string) => text.replaceAll("|", "\\|");

/** Returns the rows of the table in docs/hardening.md. */
export const hardeningRows = (): string[][] =>
  HARDENING_CHECKS.map(({ id, title, met, note }) => [id, title, met, note].map(cell));
