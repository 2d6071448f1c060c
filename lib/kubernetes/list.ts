import { KubernetesError } from "./errors";
import type { Call, Query } from "./transport";

/** Which objects of a kind to list or to watch. */
export interface ListArgs {
  apiVersion: string;
  kind: string;
  /** all namespaces without it, for a namespaced kind */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

const PAGE_OBJECTS = 500;
const MOST_PAGES = 200;

interface Page<O> {
  metadata?: { resourceVersion?: string; continue?: string };
  items?: O[];
}

/**
 * Lists all objects of a path in pages, which are of one version. Lists again when the server no longer has that
 * version (410).
 *
 * @param ask sends a call and returns the JSON
 * @param keep returns the needed part of an object, so that a page's other parts are freed before the next page
 * @throws Error with the path when there are more than 100,000 objects
 */
export async function listAll<O>(
  path: string,
  query: Query,
  ask: (call: Call) => Promise<unknown>,
  keep: (object: O) => O = (object) => object,
): Promise<{ items: O[]; resourceVersion: string }> {
  let items: O[] = [];
  let at: string | undefined;
  for (let page = 1; page <= MOST_PAGES; page++) {
    const call: Call = { method: "GET", path, query: { ...query, limit: PAGE_OBJECTS, continue: at } };
    const answer = (await ask(call).catch((error: unknown) => {
      if (at === undefined || !(error instanceof KubernetesError) || error.status !== 410) throw error;
    })) as Page<O> | undefined;
    items = answer ? items.concat((answer.items ?? []).map(keep)) : [];
    at = answer?.metadata?.continue;
    if (answer && !at) return { items, resourceVersion: answer.metadata?.resourceVersion ?? "0" };
  }
  throw new Error(`GET ${path}: the list has more than ${MOST_PAGES} pages of ${PAGE_OBJECTS} objects`);
}
