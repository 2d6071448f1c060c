import assert from "node:assert/strict";
import { OLDER_LISTS, parseChanges, preparationSteps } from "../../providers/kubeadm/plan/facts/preparation";
import { preparationSteps as lines } from "../../providers/kubeadm/plan/steps";
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
  const did = preparationSteps(machine, parseChanges(noted), { isBundle, isOlder: false }).map(lines.format);
  const hasWords = (line: string) => !/: set for the kernel$/.test(line);
  assert.deepEqual(did.map(comparable).filter(hasWords), listed.map(comparable).filter(hasWords));
  assert.ok(listed.length > 0, `the preview lists nothing of ${machine}`);
}

/** Compares the previewed steps of resources with the logs of machines that were prepared from a package repository. */
export async function assertPrepared(
  steps: Readonly<Record<string, readonly string[]>>,
  machines: readonly string[],
  readLog: (at: number) => Promise<string>,
): Promise<void> {
  for (const [at, machine] of machines.entries()) {
    const log = await readLog(at);
    assertPreparedAsListed(Object.values(steps).flat(), { machine, log, isBundle: false });
  }
}
