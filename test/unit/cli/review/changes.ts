import type { ResourceOperation, ResourceChange } from "../../../../cli/review/steps";
import type { Preview } from "../../../../cli/review/preview";

/** A change of a made-up resource: what a test does not name is plain. */
export function change(
  name: string,
  steps: readonly string[] = [],
  others: Partial<Omit<ResourceChange, "name" | "steps">> = {},
): ResourceChange {
  const type = others.type ?? "NodeGroup";
  return {
    urn: `urn:pulumi:prod::foresail::pulumi-nodejs:dynamic/foresail:${type}::${name}`,
    name,
    type,
    operation: "update" satisfies ResourceOperation,
    steps,
    inputs: {},
    replaceReasons: [],
    ...others,
  };
}

/** A preview of these changes. */
export function previewOf(changes: readonly ResourceChange[], others: Partial<Preview> = {}): Preview {
  return {
    project: "foresail",
    stack: "prod",
    changes,
    unchanged: 7,
    errors: [],
    isRefused: false,
    warnings: [],
    notes: [],
    ...others,
  };
}
