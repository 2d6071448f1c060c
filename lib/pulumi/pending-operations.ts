/** An operation that an interrupted engine left in its state. */
interface PendingOperation {
  readonly type?: string;
  readonly resource?: { readonly urn?: string; readonly type?: string };
}

/** What `pulumi stack export` prints, as far as pending operations go. */
export interface ExportedStack {
  readonly deployment?: { readonly pending_operations?: readonly PendingOperation[] };
}

/** The pending operations of a stack, each in words: `creating init (command:remote:Command)`. */
interface JudgedOperations {
  /** Safe to forget: the next `up` looks first and goes on. */
  readonly resumable: readonly string[];
  /** Only a person, or a refresh, finds out what came of these. */
  readonly others: readonly string[];
}

/** Resources whose create looks the thing up first, so that running it again harms nothing (docs/adr: resumable handlers). */
const RESUMABLE_TYPES = [/^pulumi-nodejs:dynamic\/foresail:/, /^foresail:/];

/** Objects of a cloud whose next plan deletes what was made and not recorded (docs/adr/0014-openstack-objects.md). */
const RESUMABLE_URNS = [/foresail:openstack:OpenstackCluster\$openstack:/];

/** The commands of a cluster, which may run twice; those of a program of one's own are not known to be harmless. */
function isClusterCommand(urn: string): boolean {
  const types = urn.split("::")[2]?.split("$") ?? [];
  return types.at(-1)?.startsWith("command:") === true && types.some((type) => type.startsWith("foresail:"));
}

/**
 * Judges what a killed `up` left pending. A `creating` operation stays in the state for ever otherwise, and each later
 * run warns of it. `pulumi stack import` forgets all of them at once, so it may be used only when there are no others.
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
