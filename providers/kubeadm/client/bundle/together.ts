import { atOnce } from "../../../../lib/process/at-once";
import type { BundleRequests } from "./persistence";

const AT_ONCE = 4;

/** Does the same work for several items at once. The first failure ends all of it. @throws that failure */
export async function together<Item, Result>(
  items: readonly Item[],
  requests: BundleRequests,
  work: (item: Item, requests: BundleRequests) => Promise<Result>,
): Promise<Result[]> {
  const end = new AbortController();
  const results = await atOnce(AT_ONCE, items, async (item) => {
    if (end.signal.aborted) return [];
    return work(item, { ...requests, signal: end.signal }).then(
      (result) => [result],
      (error: unknown) => {
        // the first reason stays
        end.abort(error);
        return [];
      },
    );
  });
  end.signal.throwIfAborted();
  return results.flat();
}
