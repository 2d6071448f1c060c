import { printable, shortened } from "../text/quote";

/** Returns the description of an object that has this owner tag. */
export function markedDescription(mark: string, words = ""): string {
  return words === "" ? `foresail ${mark}` : `${words} (foresail ${mark})`;
}

/** Returns whether a description has this owner tag. */
export function carriesMark(description: string | null | undefined, mark: string): boolean {
  return description === `foresail ${mark}` || description?.endsWith(` (foresail ${mark})`) === true;
}

/** Returns whose owner tag a description has, for messages; undefined without one. */
export function markedBy(description: string | null | undefined): string | undefined {
  const found = /^(?:(\S+) \()?foresail [0-9a-f]+\)?$/.exec(description ?? "");
  if (!found) return undefined;
  return found[1] === undefined ? "another stack of foresail" : `the stack ${printable(shortened(found[1]))}`;
}
