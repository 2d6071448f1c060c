/** An operation that an interrupted engine left in its state. */
interface PendingOperation {
  readonly type?: string;
  readonly resource?: { readonly urn?: string; readonly type?: string };
}

/** The output of `pulumi stack export`, limited to pending operations. */
export interface ExportedStack {
  readonly deployment?: { readonly pending_operations?: readonly PendingOperation[] };
}

/** The pending operations of a stack as text: `creating init (command:remote:Command)`. */
interface JudgedOperations {
  /** Safe to forget: the next `up` checks what exists and continues. */
  readonly resumable: readonly string[];
  /** Only a person or a refresh can determine their outcome. */
  readonly others: readonly string[];
}

/** Resources whose create checks for the object first, so that it is safe to repeat. */
const RESUMABLE_TYPES = [/^pulumi-nodejs:dynamic\/foresail:/, /^foresail:/];

/**
 * Cloud objects for which the next plan deletes what was created but not recorded (docs/adr/0014-openstack-objects.md).
 */
const RESUMABLE_URNS = [/foresail:openstack:OpenstackCluster\$openstack:/];

/**
 * Returns whether a command belongs to a cluster and is therefore safe to repeat; other commands of a program may not
 * be.
 */
function isClusterCommand(urn: string): boolean {
  const types = urn.split("::")[2]?.split("$") ?? [];
  return types.at(-1)?.startsWith("command:") === true && types.some((type) => type.startsWith("foresail:"));
}

/**
 * Classifies the operations that a killed `up` left pending. A `creating` operation otherwise stays in the state, and
 * each later run warns about it. `pulumi stack import` forgets all pending operations at once, so use it only when
 * `others` is empty.
 */
export function judgePendingOperations(stack: ExportedStack): JudgedOperations {
  const pending = stack.deployment?.pending_operations ?? [];
  const isResumable = ({ resource: { type = "", urn = "" } = {} }: PendingOperation): boolean =>
    RESUMABLE_TYPES.some((pattern) => pattern.test(type)) ||
    RESUMABLE_URNS.some((pattern) => pattern.test(urn)) ||
    isClusterCommand(urn);
  return {
    resumable: pending.filter(isResumable).map(describeOperation),
    others: pending.filter((operation) => !isResumable(operation)).map(describeOperation),
  };
}

function describeOperation({ type, resource }: PendingOperation): string {
  const name = resource?.urn?.split("::").at(-1) ?? "a resource without a name";
  return `${type ?? "unknown"} ${name} (${resource?.type ?? "unknown type"})`;
}
