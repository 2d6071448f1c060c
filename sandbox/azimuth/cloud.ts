/**
 * Simulates what azimuth-schedule-operator asks of a tenancy's cloud: the flavors, and Blazar, which reserves machines
 * of a flavor under a separate flavor named "reservation:<id>". It is empty after a restart.
 */
import { randomUUID } from "node:crypto";

/** Flavor id → name, the same in the cloud of every tenancy. */
export const FLAVORS: Readonly<Record<string, string>> = { "f-small": "vm.small", "f-large": "vm.large" };

/** A lease of Blazar. */
export interface Reservations {
  /** in milliseconds since 1970 */
  startsAt: number;
  endsAt: number;
  /** flavor id → id of its reservation, which is the id of the reserved flavor too */
  flavors: ReadonlyMap<string, string>;
}

type BlazarStatus = "Pending" | "Active" | "Terminated";

export class Cloud {
  private readonly leases = new Map<string, Reservations>();

  find(lease: string): Reservations | undefined {
    return this.leases.get(lease);
  }

  /** Reserves each flavor once, regardless of how many machines use it. */
  reserve(lease: string, startsAt: number, endsAt: number, flavorIds: readonly string[]): Reservations {
    const flavors = new Map(flavorIds.map((id) => [id, randomUUID()]));
    const made = { startsAt, endsAt, flavors };
    this.leases.set(lease, made);
    return made;
  }

  delete(lease: string): void {
    this.leases.delete(lease);
  }

  /** Returns the names for a map of flavor ids; omits ids that the cloud does not know. */
  namesOf(ids: Readonly<Record<string, string>>): Record<string, string> {
    const reserved = [...this.leases.values()].flatMap(({ flavors }) => [...flavors.values()]);
    const names = new Map([
      ...Object.entries(FLAVORS),
      ...reserved.map((id) => [id, `reservation:${id}`] as const),
    ]);
    return Object.fromEntries(
      Object.entries(ids).flatMap(([from, to]) => {
        const [asked, given] = [names.get(from), names.get(to)];
        return asked === undefined || given === undefined ? [] : [[asked, given]];
      }),
    );
  }
}

/** Blazar keeps the dates of a lease's creation and never sees later ones. */
export function statusOf({ startsAt, endsAt }: Reservations, now: number): BlazarStatus {
  if (now < startsAt) return "Pending";
  return now < endsAt ? "Active" : "Terminated";
}
