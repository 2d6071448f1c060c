import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { unknownWord } from "../../../../lib/validation/spelling";

/** Returns the issues of a `replace` map. @param places known machines as "<group>-<index>" */
export function replaceIssues(replace: readonly string[], places: readonly string[]): ValidationIssue[] {
  const known = new Set(places);
  return replace
    .filter((ref) => !known.has(ref))
    .map((ref) => ({
      path: ["replace", ref],
      message: unknownWord(ref, places, "is not a machine; write <pool>-<index>"),
    }));
}

/**
 * Returns the refusals of a `replace` map of which only the state knows the machines.
 *
 * @param system field of the configuration that has the map
 */
export function unknownSlotRefusals(
  system: "openstack" | "tumblebug",
  replace: readonly string[],
  slots: readonly string[],
): { property: string; reason: string }[] {
  return replaceIssues(replace, slots).map(({ path, message }) => ({
    property: [system, ...path].join("."),
    reason: message,
  }));
}
