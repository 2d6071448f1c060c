import { setTimeout as pause } from "node:timers/promises";
import { AnswerTooLarge } from "../http-client";
import { isObject, parseJson } from "../json";
import { type Deadline, type Probed, withDeadline } from "../wait";
import type { Endpoints } from "./endpoints";
import { KubernetesError } from "./errors";
import { listAll, type ListArgs } from "./list";
import type { KubernetesObject } from "./objects";
import type { Query, Transport } from "./transport";

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
const GONE = 410;

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
      const list = await listAll<KubernetesObject>(path, query, (call) =>
        endpoints.call(call, "always", { seconds: left(), signal }),
      );
      const objects = new Map(list.items.map((object) => [keyOf(object), object]));
      const found = look(objects);
      if (found) return found.done;
      const state = { objects, version: list.resourceVersion };
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

/** Runs one watch. @throws KubernetesError 401 or 403, AnswerTooLarge, what `look` throws */
async function watchOnce<T>(
  transport: Transport,
  path: string,
  query: Query,
  state: Watched,
  look: (objects: Map<string, KubernetesObject>) => { done: T } | undefined,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  const ended = new AbortController();
  let outcome: Outcome<T> | undefined;
  let thrown: { error: unknown } | undefined;
  const onLine = (line: string) => {
    if (outcome ?? thrown) return;
    const { type, object } = { ...(parseJson(line) as object) } as {
      type?: string;
      object?: KubernetesObject;
    };
    try {
      outcome = isObject(object) ? takeEvent(state, type, object) : { isForgotten: true, isFailed: true };
      const done = outcome || type === "BOOKMARK" ? undefined : look(state.objects);
      if (done) outcome = { done };
    } catch (error) {
      thrown = { error };
    }
    // not at once: a connection that is closed while it delivers its last data has an error without a handler
    if (outcome ?? thrown) setImmediate(() => ended.abort());
  };
  const watched = { ...query, resourceVersion: state.version, allowWatchBookmarks: true, watch: true };
  try {
    await transport.call({
      method: "GET",
      path,
      query: { ...watched, timeoutSeconds: WATCH_SECONDS },
      milliseconds: (WATCH_SECONDS + GRACE_SECONDS) * 1000,
      signal: AbortSignal.any([signal, ended.signal]),
      onLine,
    });
  } catch (error) {
    if (thrown) throw thrown.error;
    if (outcome) return outcome;
    const status = error instanceof KubernetesError ? error.status : undefined;
    if (status === GONE) return { isForgotten: true };
    if (signal.aborted || status === 401 || status === 403 || error instanceof AnswerTooLarge) throw error;
    return { isFailed: true };
  }
  return outcome ?? {};
}

/** Applies an event to the objects; returns an outcome when the watch can't continue. */
function takeEvent(
  state: Watched,
  type: string | undefined,
  object: KubernetesObject,
): Outcome<never> | undefined {
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
