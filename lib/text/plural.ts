/** Returns a count with its word: `1 step`, `2 steps`. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
