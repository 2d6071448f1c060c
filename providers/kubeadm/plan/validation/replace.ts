import type { Mistake } from "../../../../lib/validation/mistake";
import { unknownWord } from "../../../../lib/validation/spelling";

/** What is wrong with a map of places to numbers that ask for another machine. @param places "<group>-<index>" */
export function replaceMistakes(replace: readonly string[], places: readonly string[]): Mistake[] {
  const known = new Set(places);
  return replace.flatMap((place) =>
    known.has(place)
      ? []
      : [
          {
            path: ["replace", place],
            message: unknownWord(place, places).replace(
              "is not known",
              "is no machine; write <pool>-<index>",
            ),
          },
        ],
  );
}
