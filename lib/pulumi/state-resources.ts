/** A stack's resources as its state has them when a run begins: URN → type and outputs. */
export type StateResources = Readonly<Record<string, StateResource>>;

export interface StateResource {
  readonly type?: unknown;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

/** The names in a recorded list of things that have one, whatever the state has there. */
export function namesIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return (value as { name?: unknown }[]).flatMap(({ name }) => (typeof name === "string" ? [name] : []));
}
