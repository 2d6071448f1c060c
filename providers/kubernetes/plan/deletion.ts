import { fieldAt } from "./fields";
import { type Condition, reasonOf } from "./status";

/** The fields of an object that tell how far its deletion is. */
export interface LeavingObject {
  metadata?: { finalizers?: string[]; deletionTimestamp?: string };
  status?: unknown;
  [field: string]: unknown;
}

/** Conditions that a Namespace has while something keeps it, with status True. */
const OF_NAMESPACE = /^Namespace(Deletion|Content|Finalizers)/;

/**
 * Returns why an object that is being deleted is still there, as text: its phase, the finalizers that keep it, and what
 * the conditions of its controller say about the deletion. A Namespace names there the aggregated APIs that are down.
 *
 * @param without the text for an object without a phase
 */
export function deletionState(object: LeavingObject, without = "it is there"): string {
  const phase = fieldAt(object, "status.phase");
  const finalizers = [
    ...(object.metadata?.finalizers ?? []),
    ...asList<string>(fieldAt(object, "spec.finalizers")),
  ];
  const kept = finalizers.length === 0 ? "" : `, kept by ${finalizers.join(", ")}`;
  const reasons = asList<Condition>(fieldAt(object, "status.conditions"))
    .filter(isAboutDeletion)
    .map((condition) => `${condition.type}: ${reasonOf(condition)}`);
  return [`${typeof phase === "string" ? `phase ${phase}` : without}${kept}`, ...reasons].join("; ");
}

/** Cluster API has a condition Deleting, and Ready is False with the reason. */
function isAboutDeletion({ type, status, reason, message }: Condition): boolean {
  if (!reason && !message) return false;
  if (OF_NAMESPACE.test(type) || type === "Deleting") return status === "True";
  return type === "Ready" && status === "False";
}

function asList<Item>(value: unknown): Item[] {
  return Array.isArray(value) ? (value as Item[]) : [];
}
