/** `1 step`, `2 steps`: a count and its word. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
