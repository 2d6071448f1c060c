/**
 * The values in the order in which the cloud answered them, as long as they are the same: Octavia keeps a listener's
 * blocks as a set and its provider compares them as a list, so that another order would be a change in every run.
 */
export function inRecordedOrder(values: readonly string[], recorded: readonly string[]): string[] {
  const sorted = [...new Set(values)].sort();
  const isSame = JSON.stringify([...recorded].sort()) === JSON.stringify(sorted);
  return isSame ? [...recorded] : sorted;
}
