import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { unknownWord } from "../../../../lib/validation/spelling";

/** What is wrong with a map of places to numbers that ask for another machine. @param places "<group>-<index>" */
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
