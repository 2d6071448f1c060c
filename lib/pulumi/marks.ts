/** The description of an object that takes one. */
export function markedDescription(mark: string, words = ""): string {
  return words === "" ? `foresail ${mark}` : `${words} (foresail ${mark})`;
}

/** Whether a description is of that mark. */
export function carriesMark(description: string | null | undefined, mark: string): boolean {
  return description === `foresail ${mark}` || description?.endsWith(` (foresail ${mark})`) === true;
}
