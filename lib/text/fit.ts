/**
 * Finds, by halving, a number of parts that fit while one more, as a rule, does not.
 *
 * @param fits whether a text with the first `count` parts is short enough
 * @returns -1 when not even a text without parts fits
 */
export function mostThatFit(most: number, fits: (count: number) => boolean): number {
  if (fits(most)) return most;
  let [low, high] = [-1, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}
