import type { Identity } from "../plan/identity";

/** What the rule of a guard looks at. */
export interface GuardArgs<Guard> {
  guard: Guard;
  /** the object that the state has, with the values that were read from it */
  before?: { name: string; values: Record<string, unknown> };
  object: Identity;
  live: unknown;
}
