/** A stack's resources as its state has them when a run begins: URN → type and outputs. */
export type StateResources = Readonly<Record<string, StateResource>>;

export interface StateResource {
  readonly type?: unknown;
  readonly outputs?: Readonly<Record<string, unknown>>;
}
