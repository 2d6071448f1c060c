/** The operation on a resource, by the engine's names; a replacement's three steps are one. */
export type Operation = "create" | "update" | "replace" | "delete" | "import";

/** A resource that a preview changes. */
export interface ResourceChange {
  readonly urn: string;
  /** Last part of the URN. */
  readonly name: string;
  /** Last part of the type: `NodeGroup`, `Command`. */
  readonly type: string;
  readonly operation: Operation;
  /** The new input `steps`: what will be done, line by line. */
  readonly steps: readonly string[];
  /** The other new inputs, with secrets as the engine masks them. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Names of the properties that cause a replacement. */
  readonly replaceReasons: readonly string[];
}

/** The parts of a resource change that a saved review contains. */
export type ReviewedChange = Pick<ResourceChange, "urn" | "name" | "type" | "operation" | "steps" | "inputs">;
