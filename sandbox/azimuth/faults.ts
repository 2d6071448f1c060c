/** A fault that a simulated controller injects into one object on request. */
export interface Fault {
  /** never becomes ready */
  neverReady?: boolean;
  /** seconds that pass before anything is done */
  slow?: number;
  /** the phase is "Failed" (of a Lease "Error"), with this message */
  failed?: string;
  /** the object is deleted as soon as it is seen */
  deleted?: boolean;
  /** interval in milliseconds at which another client changes the object */
  changedEvery?: number;
}

/** The fields of an object by which its fault is found. */
export interface Faulty {
  namespace: string;
  name: string;
  annotations?: Record<string, string>;
}

/** Annotation that requests a fault for an object; the values are those of `readFault`. */
const FAULT_ANNOTATION = "sandbox.foresail.dev/fault";
/** Annotation of a namespace, followed by a kind, for objects of that kind that do not exist yet. */
const NAMESPACE_ANNOTATION = "sandbox.foresail.dev/fault-";

/**
 * Parses a fault annotation: "never-ready", "slow=SECONDS", "failed=MESSAGE", "deleted", "changed-every=MILLISECONDS".
 *
 * @returns undefined for any other text
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

/** The requested faults: by a test, for "Kind namespace/name" or "Kind", or by an annotation. */
export class Faults {
  private readonly faults = new Map<string, Fault>();
  private ofNamespaces = new Map<string, Fault>();
  private readonly listeners: (() => void)[] = [];
  /** Counts the changes. */
  revision = 0;

  set(kind: string, fault: Fault, object?: { namespace: string; name: string }): void {
    this.faults.set(object ? `${kind} ${object.namespace}/${object.name}` : kind, fault);
    this.changed();
  }

  clear(): void {
    this.faults.clear();
    this.changed();
  }

  /** Reads the faults that the annotations of all namespaces request. */
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

  /** Reports every change: an object that waits for nothing else has to be reconciled again. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private changed(): void {
    this.revision += 1;
    for (const listener of this.listeners) listener();
  }
}
