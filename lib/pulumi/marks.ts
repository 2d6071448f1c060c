/** Returns the description of an object that has this owner tag. */
export function markedDescription(mark: string, words = ""): string {
  return words === "" ? `foresail ${mark}` : `${words} (foresail ${mark})`;
}

/** Returns whether a description has this owner tag. */
export function carriesMark(description: string | null | undefined, mark: string): boolean {
  return description === `foresail ${mark}` || description?.endsWith(` (foresail ${mark})`) === true;
}
