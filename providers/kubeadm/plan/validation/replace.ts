import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { unknownWord } from "../../../../lib/validation/spelling";

/**
 * Returns the issues of a `replace` map.
 *
 * @param replace keys of the map
 * @param places known machines as "<group>-<index>"
 */
export function replaceIssues(replace: readonly string[], places: readonly string[]): ValidationIssue[] {
  const known = new Set(places);
  return replace.flatMap((ref) =>
    known.has(ref)
      ? []
      : [
          {
            path: ["replace", ref],
            message: unknownWord(ref, places).replace("is not known", "is no machine; write <pool>-<index>"),
          },
        ],
  );
}
