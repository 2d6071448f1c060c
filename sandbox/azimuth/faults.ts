/** What a stand-in does wrong with one object, on request. */
export interface Fault {
  /** never becomes ready */
  neverReady?: boolean;
  /** seconds that pass before anything is done */
  slow?: number;
  /** the phase is "Failed" (of a Lease "Error"), with this message */
  failed?: string;
  /** the object is deleted as soon as it is seen */
  deleted?: boolean;
  /** each of so many milliseconds somebody else changes the object */
  changedEvery?: number;
}

/** An object, as far as a fault of it is looked for. */
export interface Faulty {
  namespace: string;
  name: string;
  annotations?: Record<string, string>;
}

/** Annotation of an object by which a person asks its stand-in to go wrong; the values are those of `readFault`. */
const FAULT_ANNOTATION = "sandbox.foresail.dev/fault";
/** Annotation of a namespace, with a kind after it, for objects of the kind that are not there yet. */
const NAMESPACE_ANNOTATION = "sandbox.foresail.dev/fault-";

/**
 * Reads a fault as a person writes it: "never-ready", "slow=SECONDS", "failed=MESSAGE", "deleted",
 * "changed-every=MILLISECONDS".
 *
 * @returns undefined when it is none of these
 */
export function readFault(text: string): Fault | undefined {
  const [, word = "", value] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const number = value === undefined || value.trim() === "" ? Number.NaN : Number(value);
  switch (word) {
    case "never-ready":
      return { neverReady: true };
    case "deleted":
      return { deleted: true };
    case "failed":
      return { failed: value ?? "as was asked for" };
    case "slow":
      return number >= 0 ? { slow: number } : undefined;
    case "changed-every":
      return number > 0 ? { changedEvery: number } : undefined;
    default:
      return undefined;
  }
}

/** The faults that were asked for: by a test, by "Kind namespace/name" or "Kind", or by a person's annotation. */
export class Faults {
  private readonly faults = new Map<string, Fault>();
  private ofNamespaces = new Map<string, Fault>();
  private readonly listeners: (() => void)[] = [];
  /** Counts the changes. */
  turn = 0;

  set(kind: string, fault: Fault, object?: { namespace: string; name: string }): void {
    this.faults.set(object ? `${kind} ${object.namespace}/${object.name}` : kind, fault);
    this.changed();
  }

  clear(): void {
    this.faults.clear();
    this.changed();
  }

  /** Takes the faults that the annotations of all namespaces ask for. */
  takeNamespaces(namespaces: readonly { metadata?: Partial<Faulty> }[]): void {
    const asked = namespaces.flatMap(({ metadata: { name = "", annotations = {} } = {} }) =>
      Object.entries(annotations).flatMap(([key, value]) => {
        const fault = key.startsWith(NAMESPACE_ANNOTATION) ? readFault(value) : undefined;
        return fault ? [[`${name}/${key.slice(NAMESPACE_ANNOTATION.length)}`, fault] as const] : [];
      }),
    );
    if (JSON.stringify(asked) === JSON.stringify([...this.ofNamespaces])) return;
    this.ofNamespaces = new Map(asked);
    this.changed();
  }

  of(kind: string, { namespace, name, annotations }: Faulty): Fault {
    return (
      readFault(annotations?.[FAULT_ANNOTATION] ?? "") ??
      this.faults.get(`${kind} ${namespace}/${name}`) ??
      this.ofNamespaces.get(`${namespace}/${kind}`) ??
      this.faults.get(kind) ??
      {}
    );
  }

  /** Tells of every change: an object that waits for nothing else has to be looked at again. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private changed(): void {
    this.turn += 1;
    for (const listener of this.listeners) listener();
  }
}
