import assert from "node:assert/strict";
import { type FileDifference, groupedDiffs, type NodeDifferences } from "../../lib/text/unified-diff";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { resourceMessage } from "../../lib/steps/steps";
import type { TestCluster } from "./test-cluster";

/** Everything that a change of configuration may write on a machine. */
const MANAGED = [
  "/etc/kubernetes/manifests",
  "/etc/kubernetes/audit",
  "/etc/kubernetes/authentication",
  "/etc/kubernetes/hardening",
  "/etc/containerd/certs.d",
  "/etc/apt/apt.conf.d",
  "/etc/example",
  "/etc/systemd/system",
  "/var/lib/kubelet/config.yaml",
];

/** What others write and a profile makes private: of these, only the modes are compared. */
const PRIVATE = [
  "/etc/kubernetes/pki",
  "/etc/cni/net.d",
  "/usr/lib/systemd/system/kubelet.service*",
  "/var/lib/etcd",
];

/** Lists the names in the certificate of a control plane's API server: of the certificate itself, a preview shows nothing. */
const CERTIFICATE = "/etc/kubernetes/pki/apiserver.crt";
const NAMES = `openssl x509 -noout -ext subjectAltName -in ${CERTIFICATE} 2>/dev/null | tail -n +2 | tr -d ' ' |
  tr ',' '\\n' | sed 's/^[^:]*://' | LC_ALL=C sort`;

/** Prints the address of the API servers in each kubeconfig: of the file itself, a preview shows nothing. */
const SERVERS = "grep --with-filename '^ *server: ' /etc/kubernetes/*.conf";

interface ManagedFile {
  content: string;
  mode?: string;
  /** Whether only its mode can differ: others create and remove such files. */
  isForeign?: true;
}

/** Files of a machine by path. */
type Files = ReadonlyMap<string, ManagedFile>;

/** Reads all files of each machine that a change of configuration may write. */
export async function managedFiles(
  cluster: TestCluster,
  machines: readonly string[],
): Promise<Map<string, Files>> {
  const read = `find ${MANAGED.join(" ")} -type f 2>/dev/null | sort | while read -r path; do
    printf '%s %s %s\\n' "$path" "$(stat --format %a,%U:%G "$path")" "$(base64 --wrap 0 <"$path")"
  done`;
  const modes = `{ find ${PRIVATE.slice(0, -1).join(" ")} -type f; find ${PRIVATE.at(-1)} -maxdepth 0; } 2>/dev/null |
    sort | xargs --no-run-if-empty stat --format '%n %a %U:%G'`;
  const all = new Map<string, Files>();
  for (const machine of machines) {
    const lines = (await cluster.onMachine(machine, read)).trim().split("\n");
    const files = lines.map((line) => {
      const [path = "", mode = "", text = ""] = line.split(" ");
      const content = Buffer.from(text, "base64").toString("utf8");
      return [path, { content, mode: mode.replace(",", " ") }] as const;
    });
    const foreign = (await cluster.onMachine(machine, modes))
      .trim()
      .split("\n")
      .map((line) => {
        const [path = "", ...mode] = line.split(" ");
        return [path, { content: "", mode: mode.join(" "), isForeign: true }] as const;
      });
    const names = await cluster.onMachine(machine, NAMES);
    const certificate = names === "" ? [] : [[`${CERTIFICATE} (names)`, { content: names }] as const];
    const servers = (await cluster.onMachine(machine, SERVERS)).trim().split("\n");
    const addresses = servers.map((line) => {
      const [, path = "", content = ""] = /^([^:]*):(.*)$/.exec(line) ?? [];
      return [`${path} (server)`, { content: `${content}\n` }] as const;
    });
    all.set(machine, new Map<string, ManagedFile>([...files, ...foreign, ...certificate, ...addresses]));
  }
  return all;
}

/** Returns the lines of the diff in a preview's notes. */
export const diffLines = (notes: readonly string[]): string[] =>
  notes.flatMap((note) => {
    const step = nodeRolloutSteps.parse(resourceMessage.parse(note)?.line ?? "");
    return step?.kind === "diff" ? [step.text.slice(1)] : [];
  });

/** Fails if the preview showed something else than what became of the files, byte for byte, on any machine. */
export function assertPreviewedDiff(
  lines: readonly string[],
  before: ReadonlyMap<string, Files>,
  after: ReadonlyMap<string, Files>,
): void {
  const nodes = [...before].map(([node, old]) => ({
    node,
    files: differences(old, after.get(node) ?? new Map()),
  }));
  const [shown, happened] = [byNode(lines), byNode(groupedDiffs(nodes).map((line) => line.trimEnd()))];
  assert.deepEqual(shown, happened);
  assert.ok(nodes.every(({ files }: NodeDifferences) => files.length > 0));
}

function differences(before: Files, after: Files): FileDifference[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old?.content === now?.content && old?.mode === now?.mode) return [];
    if ((old ?? now)?.isForeign && !(old && now)) return [];
    return [{ path, ...(old ? { before: old } : {}), ...(now ? { after: now } : {}) }];
  });
}

/** Returns the diff of each file after the nodes that it is for, in the order of the paths. */
function byNode(lines: readonly string[]): string[] {
  const files: string[] = [];
  let nodes = "";
  for (const line of lines) {
    if (/^[\w, -]+:$/.test(line) && !line.startsWith(" ")) nodes = line;
    else if (line.startsWith("--- /")) files.push(`${nodes}\n${line}`);
    else files.push(`${files.pop()}\n${line}`);
  }
  return files.sort();
}
