/** What happens to one resource, in the engine's words; a replacement's three steps are one. */
export type Operation = "create" | "update" | "replace" | "delete" | "import";

/** One resource that a preview changes. */
export interface ResourceChange {
  readonly urn: string;
  /** Last part of the URN. */
  readonly name: string;
  /** Last part of the type: `NodeGroup`, `Command`. */
  readonly type: string;
  readonly operation: Operation;
  /** The new input `steps`: what will be done, line by line. */
  readonly steps: readonly string[];
  /** The other new inputs, secrets as the engine masks them. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Why it is replaced: names of properties. */
  readonly replaceReasons: readonly string[];
}

/** What a review holds of a resource. */
export type ReviewedChange = Pick<ResourceChange, "urn" | "name" | "type" | "operation" | "steps" | "inputs">;
