/** Prefix of the types of foresail's own resources in the state. */
export const OWN_TYPES = "pulumi-nodejs:dynamic/foresail:";

/** The parts of a resource's URN, `urn:pulumi:<stack>::<project>::<types>::<name>`. */
interface Urn {
  readonly stack: string;
  readonly project: string;
  /** The types of the parents that are components, the outermost first, and the resource's own type last. */
  readonly types: readonly string[];
  /** The resource's own type: `openstack:compute/instance:Instance`. */
  readonly type: string;
  readonly name: string;
}

/** Parses a URN; missing parts are empty. */
export function parseUrn(urn: string): Urn {
  const [stack = "", project = "", chain = "", ...name] = urn.replace(/^urn:pulumi:/, "").split("::");
  const types = chain.split("$");
  return { stack, project, types, type: types.at(-1) ?? "", name: name.join("::") };
}

export type Outputs = Readonly<Record<string, unknown>>;

export interface StateResource {
  readonly type?: unknown;
  readonly outputs?: Outputs;
}

/** The resources of a stack's state at the start of a run: URN → type and outputs. */
export type StateResources = Readonly<Record<string, StateResource>>;

/** Returns the names in a recorded list of named items; ignores everything else. */
export function namesIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return (value as { name?: unknown }[]).flatMap(({ name }) => (typeof name === "string" ? [name] : []));
}

interface RecordedResource {
  name: string;
  type: string;
  outputs: Outputs;
}

/** The resources in a stack's state, by type and name. */
export class RecordedResources {
  readonly all: readonly RecordedResource[];

  constructor(resources: StateResources) {
    this.all = Object.entries(resources).map(([urn, { type, outputs = {} }]) => ({
      name: parseUrn(urn).name,
      type: String(type).replace(OWN_TYPES, ""),
      outputs,
    }));
  }

  /** Returns the resources of a type; foresail's own types have no prefix: "NodeGroup". */
  of(type: string): RecordedResource[] {
    return this.all.filter((resource) => resource.type === type);
  }

  /** Returns a resource's outputs, or undefined if the state does not have it. */
  outputs(type: string, name: string): Outputs | undefined {
    return this.of(type).find((resource) => resource.name === name)?.outputs;
  }
}

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

/**
 * Returns whether the next run may repeat a create: of foresail's own resources, which check for the object first; of
 * cloud objects, which the next plan deletes when they were created but not recorded
 * (docs/adr/0014-openstack-objects.md); and of a cluster's commands, unlike other commands of a program.
 */
function isResumable({ resource: { type: own = "", urn = "" } = {} }: PendingOperation): boolean {
  const { type, types } = parseUrn(urn);
  const isOfCloud = types.some(
    (each, index) =>
      each.startsWith("openstack:") && types[index - 1] === "foresail:openstack:OpenstackCluster",
  );
  const isOfCluster = types.some((each) => each.startsWith("foresail:"));
  return (
    [OWN_TYPES, "foresail:"].some((prefix) => own.startsWith(prefix)) ||
    isOfCloud ||
    (isOfCluster && type.startsWith("command:"))
  );
}

/**
 * Classifies the operations that a killed `up` left pending. A `creating` operation otherwise stays in the state, and
 * each later run warns about it. `pulumi stack import` forgets all pending operations at once, so use it only when
 * `others` is empty.
 */
export function judgePendingOperations(stack: ExportedStack): JudgedOperations {
  const pending = stack.deployment?.pending_operations ?? [];
  return {
    resumable: pending.filter(isResumable).map(describeOperation),
    others: pending.filter((operation) => !isResumable(operation)).map(describeOperation),
  };
}

function describeOperation({ type, resource }: PendingOperation): string {
  const name = resource?.urn === undefined ? "a resource without a name" : parseUrn(resource.urn).name;
  return `${type ?? "unknown"} ${name} (${resource?.type ?? "unknown type"})`;
}
