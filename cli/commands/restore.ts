import { messageOf } from "../../lib/error-message";
import { readGivenFile } from "../../lib/files";
import { displayLine } from "../../lib/text/display";
import type { MachineAccess } from "../../providers/kubeadm/client/machine-access";
import { restoreFrom, remainsOf } from "../../providers/kubeadm/client/restore";
import { type ReadSnapshot, readSnapshot } from "../../providers/kubeadm/client/snapshot-content";
import { recordedFault } from "../../providers/kubeadm/client/snapshot-files";
import { planRestore } from "../../providers/kubeadm/plan/backup/restore";
import { machinesInState } from "../engine/machines-in-state";
import { exportStack } from "../engine/pulumi";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { askPerson, print } from "../terminal/terminal";

export interface RestoreOptions {
  readonly stack?: string;
  /** The snapshot. */
  readonly from: string;
  /** File with a private key of age. */
  readonly identity: string;
  /** Names of control planes that will not come back. */
  readonly gone: readonly string[];
  /** Whether a cluster that answers is replaced. */
  readonly discardLiving: boolean;
  /** Whether the command line confirms the restore. */
  readonly yes: boolean;
}

/** Time limit for a machine to answer. */
const SECONDS = 20;

/**
 * Rebuilds the control plane of a stack's cluster from a snapshot: shows every step with what is lost, asks, and does it over
 * SSH. After an interruption, the same command continues.
 *
 * @returns the exit code
 */
export async function restore(options: RestoreOptions, say = print): Promise<number> {
  const identities = await readGivenFile(options.identity, "the private key", "name it with --identity");
  const read = await readRecorded(options.from, identities).catch((error: unknown) => ({
    fault: displayLine(messageOf(error)),
  }));
  if ("fault" in read) {
    say(`refused: ${options.from} can't be restored: ${read.fault}. Nothing was touched.`);
    return EXIT.failed;
  }
  const inState = machinesInState((await exportStack(options.stack, "--show-secrets")).exported);
  if (inState === undefined) throw new UsageError("Cluster API manages the machines of this stack");
  const { machines, ...cluster } = inState;
  const access: MachineAccess = { ...cluster, seconds: SECONDS };
  const remains = await remainsOf(access, machines);
  const identity = { cluster: access.cluster, stack: access.owner?.id ?? "" };
  const plan = planRestore(read.facts, identity, machines, remains, options, Date.now());
  if (!("machine" in plan) || plan.refusals.length > 0) {
    for (const refusal of plan.refusals) say(`refused: ${refusal}`);
    say("nothing was touched");
    return EXIT.failed;
  }
  for (const line of plan.lines) say(line);
  if (!options.yes) {
    const answer = await askPerson("Do this? [y/N] ");
    if (answer !== true) {
      say(`nothing was changed${answer === undefined ? ": without a terminal, give --yes" : ""}`);
      return answer === undefined ? EXIT.usage : EXIT.declined;
    }
  }
  await restoreFrom(access, plan, { file: options.from, identities }, say);
  const joins = plan.gone.length > 0 ? `, which joins ${plan.gone.join(", ")} again` : "";
  say(`the API answers; now look at the preview, and run: foresail up${joins}`);
  return EXIT.done;
}

/** Reads a snapshot that is the one of the description beside it, when there is one. */
async function readRecorded(file: string, identities: string): Promise<ReadSnapshot> {
  const fault = await recordedFault(file);
  return fault === undefined ? readSnapshot(file, identities) : { fault };
}
