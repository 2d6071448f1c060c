import assert from "node:assert/strict";
import { OLDER_LISTS, parseChanges, stepsOfChanges } from "../../providers/kubeadm/plan/facts/preparation";
import { preparationSteps as lines } from "../../providers/kubeadm/plan/steps";
import { clusterInitSteps, nodeAgentsSteps, nodeGroupSteps } from "../../providers/kubeadm/plan/steps";
import { isPreparation } from "../../cli/review/steps";

/** Settings of a kernel that all container nodes of a host share: the first one that is prepared sets them. */
const OF_THE_HOST = /fs\.inotify\.\w+ = \d+(, )?/g;

/** Reads what the last preparation of a machine noted in its log. */
export const READ_PREPARATION = "tac /var/log/foresail/prepare.log | sed '/^== [^ ]* prepare$/q' | tac";

/** The revision of a package, which a machine without the authority of its repository can't ask for. */
const REVISION = /(?<= \d+\.\d+\.\d+)-\S+(?= from the Kubernetes repository$)/;

const comparable = (line: string): string =>
  line
    .replace(OLDER_LISTS, "")
    .replace(REVISION, "")
    .replace(OF_THE_HOST, "")
    .replace(/[, ]+$/, "");

/**
 * Compares what a preview listed for a machine with what the log of its preparation says: the same lines, in the same order.
 *
 * @param log what READ_PREPARATION printed on the machine
 */
export function assertPreparedAsListed(
  previewed: readonly string[],
  { machine, log, isBundle }: { machine: string; log: string; isBundle: boolean },
): void {
  const listed = previewed.filter((line) => line.startsWith(`${machine}: `) && isPreparation(line));
  const noted = log.split("\n").flatMap((line) => /^== did (.*)$/.exec(line)?.[1] ?? []);
  const did = stepsOfChanges(machine, parseChanges(noted), { isBundle, isOlder: false }).map(lines.format);
  const hasWords = (line: string) => !/: set for the kernel$/.test(line);
  assert.deepEqual(did.map(comparable).filter(hasWords), listed.map(comparable).filter(hasWords));
  assert.ok(listed.length > 0, `the preview lists nothing of ${machine}`);
}

/** Reads what the journals of a machine say about how it became a node, and what runs on it then: "WHAT VALUE" lines. */
export const READ_JOURNALS = `cd /var/log/foresail
for step in init join-worker join-control-plane; do
  if grep -qs " $step ended with 0$" $step.log && grep -qsE "^(Your Kubernetes control-plane has initialized|This node has joined)" $step.log; then echo "$step"; fi
done
if [ -e init.log ]; then
  sed -nE 's|^ *image: .*/kube-apiserver:v|version |p' /etc/kubernetes/manifests/kube-apiserver.yaml
  sed -nE 's|^ *image: .*/etcd:|etcd |p' /etc/kubernetes/manifests/etcd.yaml
  KUBECONFIG=/etc/kubernetes/admin.conf kubectl --namespace kube-system get deployment coredns --output jsonpath='{.spec.template.spec.containers[0].image}' | sed -E 's|.*:|CoreDNS |'; echo
  containerd config dump | sed -nE 's@^ *sandbox(_image)? = .*/pause:([0-9.]+).$@pause \\2@p'
fi
sed -nE "s/^AGENT_VERSION='?([0-9.]+)'?$/agent \\1/p" /usr/local/lib/foresail/node-agent
ls /var/lib/foresail/agent/install/kubeadm | sed 's/^/stage /'`;

/** Returns the lines of READ_JOURNALS that a preview promises for a machine. */
function promisedJournals(machine: string, previewed: readonly string[]): string[] {
  return previewed.flatMap((line) => {
    const init = clusterInitSteps.parse(line);
    if (init?.kind === "init" && init.machine === machine)
      return ["init", `version ${init.version}`, ...(init.components ?? "").split(", ")];
    const step = nodeGroupSteps.parse(line) ?? nodeAgentsSteps.parse(line);
    if (step === undefined || !("machine" in step) || step.machine !== machine) return [];
    if (step.kind === "join") return ["join-worker"];
    if (step.kind === "joinControlPlane") return ["join-control-plane"];
    if (step.kind === "install") return [`agent ${step.version}`];
    return step.kind === "stage" ? [`stage ${step.version}`] : [];
  });
}

/**
 * Compares what a preview listed for a machine about `kubeadm init`, its join and its node agent with the journals of the
 * machine: the same, and no more.
 *
 * @param journals what READ_JOURNALS printed on the machine
 */
export function assertBecameNodeAsListed(
  previewed: readonly string[],
  { machine, journals }: { machine: string; journals: string },
): void {
  const said = journals.split("\n").filter((line) => line !== "");
  assert.deepEqual(said.sort(), promisedJournals(machine, previewed).sort());
}

/**
 * Compares the previewed steps of resources with the logs and journals of machines that were prepared from a package
 * repository and became nodes.
 *
 * @param read runs a command on a machine
 */
export async function assertPrepared(
  steps: Readonly<Record<string, readonly string[]>>,
  machines: readonly string[],
  read: (at: number, command: string) => Promise<string>,
): Promise<void> {
  const previewed = Object.values(steps).flat();
  for (const [at, machine] of machines.entries()) {
    const log = await read(at, READ_PREPARATION);
    assertPreparedAsListed(previewed, { machine, log, isBundle: false });
    assertBecameNodeAsListed(previewed, { machine, journals: await read(at, READ_JOURNALS) });
  }
}
