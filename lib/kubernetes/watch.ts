import { setTimeout as pause } from "node:timers/promises";
import type { KubeConfig } from "@kubernetes/client-node";
import { orAborted } from "../abort";
import { type Deadline, type Probed, withDeadline } from "../wait";
import type { Endpoints } from "./endpoints";
import { KubernetesError } from "./errors";
import type { KubernetesObject } from "./objects";
import type { Query, Transport } from "./transport";

/** Which objects of a kind to list or to watch. */
export interface ListArgs {
  apiVersion: string;
  kind: string;
  /** all namespaces without it, for a namespaced kind */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** What to watch, and when to end. */
export interface WatchArgs<T, O> extends ListArgs, Deadline {
  /** watches this object only */
  name?: string;
  /** Called with all objects at the start and after each change; may throw to end the wait. */
  decide: (objects: O[]) => Probed<T>;
}

// A watch ends after this time and resumes where it ended, which detects a server that died without closing.
const WATCH_SECONDS = 20;
const GRACE_SECONDS = 5;
const START_MILLISECONDS = 10_000;
const GONE = 410;

interface List {
  metadata?: { resourceVersion?: string };
  items?: KubernetesObject[];
}

/**
 * Lists, then watches from the list's resourceVersion until `decide` is done. Lists again when the server no longer has
 * that version (410), and uses another API server when one fails.
 *
 * @throws WaitTimeout at the deadline with the last condition; KubernetesError; what `decide` throws
 */
export async function watchUntil<T, O = KubernetesObject>(
  endpoints: Endpoints,
  path: string,
  args: WatchArgs<T, O>,
): Promise<T> {
  const selectors = [args.fieldSelector, args.name && `metadata.name=${args.name}`].filter(Boolean);
  const query = { fieldSelector: selectors.join(",") || undefined, labelSelector: args.labelSelector };
  return withDeadline(args, async (signal, progress, deadline) => {
    const left = () => Math.max(0.1, (deadline - Date.now()) / 1000);
    const look = (objects: Map<string, KubernetesObject>): { done: T } | undefined => {
      const found = args.decide([...objects.values()] as O[]);
      if ("done" in found) return found;
      progress.saw(found.pending);
      return undefined;
    };
    for (;;) {
      const call = { method: "GET" as const, path, query };
      const list = (await endpoints.call(call, true, { seconds: left(), signal })) as List;
      const objects = new Map((list.items ?? []).map((object) => [keyOf(object), object]));
      const found = look(objects);
      if (found) return found.done;
      const state = { objects, version: list.metadata?.resourceVersion ?? "0" };
      for (let isKnown = true; isKnown;) {
        const transport = await endpoints.choose({ seconds: left(), signal, progress: args.progress });
        const outcome = await watchOnce(transport, path, query, state, look, signal);
        if (outcome.done) return outcome.done.done;
        isKnown = !outcome.isForgotten;
        if (outcome.isFailed) {
          endpoints.failed(transport);
          await pause(200, undefined, { signal });
        }
      }
    }
  });
}

interface Watched {
  objects: Map<string, KubernetesObject>;
  version: string;
}

interface Outcome<T> {
  done?: { done: T };
  isForgotten?: boolean;
  isFailed?: boolean;
}

/** Runs one watch with the client library's watch module; loading the whole library takes 0.6 s. */
async function watchOnce<T>(
  transport: Transport,
  path: string,
  query: Query,
  state: Watched,
  look: (objects: Map<string, KubernetesObject>) => { done: T } | undefined,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  const { Watch } = await import("@kubernetes/client-node/dist/watch.js");
  const { server, agent, headers } = transport.access;
  const access = {
    getCurrentCluster: () => ({ server }),
    applyToFetchOptions: () => Promise.resolve({ agent, headers, timeout: START_MILLISECONDS }),
  };
  let starting: Promise<AbortController> | undefined;
  const silence = AbortSignal.timeout((WATCH_SECONDS + GRACE_SECONDS) * 1000);
  const ended = new Promise<Outcome<T>>((resolve, reject) => {
    const onEvent = (type: string, object: KubernetesObject) => {
      try {
        const outcome = takeEvent(state, type, object);
        if (outcome) return resolve(outcome);
        const done = type === "BOOKMARK" ? undefined : look(state.objects);
        if (done) resolve({ done });
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const onEnd = (error: unknown) => {
      const status = (error as { statusCode?: number } | null)?.statusCode;
      if (status === GONE) resolve({ isForgotten: true });
      else if (status === 401 || status === 403) {
        reject(new KubernetesError(status, "Forbidden", "watching is not allowed", `WATCH ${path}`));
      } else resolve({ isFailed: Boolean(error) });
    };
    const watched = { ...query, resourceVersion: state.version, allowWatchBookmarks: true };
    const queries = { ...watched, timeoutSeconds: WATCH_SECONDS };
    starting = new Watch(access as unknown as KubeConfig).watch(path, queries, onEvent, onEnd);
  });
  try {
    return await orAborted(ended, AbortSignal.any([signal, silence]));
  } catch (error) {
    if (silence.aborted && !signal.aborted) return { isFailed: true };
    throw error;
  } finally {
    starting?.then((running) => running.abort()).catch(() => undefined);
  }
}

/** Applies an event to the objects; returns an outcome when the watch can't continue. */
function takeEvent(state: Watched, type: string, object: KubernetesObject): Outcome<never> | undefined {
  if (type === "ERROR") {
    return { isForgotten: true, isFailed: object.code !== GONE };
  }
  state.version = object.metadata?.resourceVersion ?? state.version;
  if (type === "DELETED") state.objects.delete(keyOf(object));
  else if (type !== "BOOKMARK") state.objects.set(keyOf(object), object);
  return undefined;
}

function keyOf(object: KubernetesObject): string {
  return `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}`;
}
