/**
 * Does the same work for each item, for at most so many at once, and returns the results in the order of the items.
 *
 * @param most how many are worked on at the same time
 * @throws what the first work that fails throws
 */
export async function atOnce<Item, Result>(
  most: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = [...items.entries()];
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: most }, lane));
  return results;
}
