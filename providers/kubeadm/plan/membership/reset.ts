import { listed } from "../../../../lib/text/quote";
import type { Self } from "../../../../lib/ownership/owner";
import type { ReadFacts } from "../facts/machine-facts";
import { ownershipOf } from "../facts/ownership";
import type { Machine } from "../cluster/machine";
import type { ObservedNode } from "./nodes";

/**
 * Returns the recorded machines that may have been reset although their Nodes are in the cluster: by hand, which makes a Node
 * NotReady after a while, or by a removal that was interrupted before it deleted the Node.
 */
export function mayBeReset(
  desired: readonly Machine[],
  recorded: readonly string[],
  observed: readonly ObservedNode[] = [],
): Machine[] {
  const isInDoubt = ({ name }: Machine) =>
    observed.some(
      (node) => node.name === name && node.group !== undefined && (!node.ready || node.removal !== undefined),
    );
  return desired.filter((machine) => recorded.includes(machine.name) && isInDoubt(machine));
}

/** Machines that left the cluster, although their Nodes are still in it. */
export interface ResetMachines {
  /** Those that have the stack's mark, and are prepared: they join again. */
  readonly reset: string[];
  /** Those without a mark: another disk, on which nothing is prepared. */
  readonly empty: string[];
  /** Those whose removal was interrupted after it had reset them: nothing prepares them again before it is complete. */
  readonly leaving?: string[];
}

/**
 * Returns which machines were reset, or reinstalled. A machine that another stack has is neither.
 *
 * @param facts of machines that may have been
 * @param leaving whether a removal of a machine has begun, which takes its mark with the rest
 */
export function resetMachines(
  self: Self,
  cluster: string,
  facts: ReadonlyMap<string, ReadFacts>,
  leaving: (machine: string) => boolean = () => false,
): ResetMachines {
  const found = { reset: [] as string[], empty: [] as string[], leaving: [] as string[] };
  for (const [machine, read] of facts) {
    if ("unread" in read || read.member === true) continue;
    const owned = ownershipOf({ cluster, machine, self }, read);
    const isFree = owned.is === "free";
    if (!isFree && owned.is !== "own" && owned.is !== "unnamed") continue;
    if (leaving(machine)) found.leaving.push(machine);
    else (isFree ? found.empty : found.reset).push(machine);
  }
  return found;
}

/** Why a machine that was reinstalled is not Ready, and what helps. */
export const INSTALLED_ANEW =
  "its machine was reinstalled, and is not a member; take it out of the configuration, list it under `lost`, run `up`, then add it again";

/** What completes what was interrupted. */
const NEXT = {
  destroy: "run `pulumi destroy` again, which completes it, and then `up`",
  removal: "take the machine out of the configuration, run `up`, which completes it, then add it again",
};

/** Returns why no run goes on with machines that an interrupted one has reset. */
export const wereReset = (names: readonly string[], interrupted: keyof typeof NEXT): string =>
  `the cluster exists, but ${listed(names)} ${names.length > 1 ? "were" : "was"} reset: a ${interrupted} was interrupted; ${NEXT[interrupted]}`;
