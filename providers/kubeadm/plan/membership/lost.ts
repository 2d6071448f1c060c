/**
 * Returns what state records of lost machines: names that the configuration no longer lists stay until another change.
 * They are no machines of the cluster any more, so taking them off the list is no change.
 *
 * @param olds undefined in a new stack
 */
export function recordedLost(
  olds: readonly string[] | undefined,
  news: readonly string[],
): readonly string[] {
  return olds !== undefined && news.every((name) => olds.includes(name)) ? olds : news;
}
