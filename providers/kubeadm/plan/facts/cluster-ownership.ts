import { isDeepStrictEqual } from "node:util";
import type { NewObject } from "../../../../lib/kubernetes/objects";
import { decideOwnership, describeOwner, foreignOwner, type Self } from "../../../../lib/ownership/owner";
import type { KeptReading } from "../cluster/kept-objects";
import { isOwnerRecord, ownerIn } from "./owner-record";
import type { ReaderAccountStep } from "../steps";
import { TAKE_OVER_FIELD } from "./ownership";

/** What a run does with the record of a cluster's owner, or why it is refused. */
export type RecordDecision = { readonly steps: ReaderAccountStep[] } | { readonly refused: string };

/**
 * Decides about the record of a cluster's owner. One of another stack is refused and never written over, unless this stack
 * takes over from it. A deleted or damaged one is restored like every object that foresail keeps.
 *
 * @param desired the objects after this run
 * @param recorded in the state; empty before the first run
 * @param reading the record in the cluster; undefined when it could not be read
 */
export function decideRecord(
  self: Self,
  args: {
    desired: readonly NewObject[];
    recorded: readonly NewObject[];
    reading: KeptReading | undefined;
  },
): RecordDecision {
  const { desired, recorded, reading } = args;
  const found = reading && "live" in reading ? decideOwnership(ownerIn(reading.live), self) : undefined;
  if (found?.is === "foreign")
    return { refused: foreignOwner("the cluster", found.owner, self, TAKE_OVER_FIELD) };
  const own = desired.find(isOwnerRecord);
  if (own === undefined) return { steps: [] };
  const stack = self.stack;
  if (found?.is === "takeOver") return { steps: [{ kind: "own", stack, former: describeOwner(found.from) }] };
  const before = recorded.find(isOwnerRecord);
  const isNew = recorded.length === 0 || isDeepStrictEqual(before, own) || found?.is === "own";
  return { steps: isNew ? [] : [{ kind: "own", stack }] };
}
