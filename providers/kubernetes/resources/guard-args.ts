import type { Identity } from "../plan/identity";

/** The arguments of a guard's rule. */
export interface GuardArgs<Guard> {
  guard: Guard;
  /** the object in the state, with the values that were read from it */
  before?: { name: string; values: Record<string, unknown> };
  object: Identity;
  live: unknown;
}
