/**
 * Returns the values in the recorded order if both lists have the same values, or else sorted. Octavia stores a
 * listener's CIDR blocks as a set and the Pulumi provider compares lists, so another order would show up as a change
 * in every run.
 */
export function inRecordedOrder(values: readonly string[], recorded: readonly string[]): string[] {
  const sorted = [...new Set(values)].sort();
  const isSame = JSON.stringify([...recorded].sort()) === JSON.stringify(sorted);
  return isSame ? [...recorded] : sorted;
}
