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

/** The faults that were asked for, by "Kind namespace/name" or "Kind" for all of a kind. */
export class Faults {
  private readonly faults = new Map<string, Fault>();

  set(kind: string, fault: Fault, object?: { namespace: string; name: string }): void {
    this.faults.set(object ? `${kind} ${object.namespace}/${object.name}` : kind, fault);
  }

  clear(): void {
    this.faults.clear();
  }

  of(kind: string, { namespace, name }: { namespace: string; name: string }): Fault {
    return this.faults.get(`${kind} ${namespace}/${name}`) ?? this.faults.get(kind) ?? {};
  }
}
