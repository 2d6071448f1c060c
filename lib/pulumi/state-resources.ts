/** The resources of a stack's state at the start of a run: URN → type and outputs. */
export type StateResources = Readonly<Record<string, StateResource>>;

export interface StateResource {
  readonly type?: unknown;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

/** Returns the names in a recorded list of named items; ignores everything else. */
export function namesIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return (value as { name?: unknown }[]).flatMap(({ name }) => (typeof name === "string" ? [name] : []));
}
