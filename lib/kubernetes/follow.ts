import { setTimeout as pause } from "node:timers/promises";
import type { KubernetesClient } from "./client";
import { KindNotServed, KubernetesError } from "./errors";
import type { KubernetesObject } from "./objects";
import type { WatchArgs } from "./watch";
import { messageOf } from "../error-message";

/** What to follow until the signal aborts. */
export interface FollowArgs<O> extends Pick<
  WatchArgs<never, O>,
  "apiVersion" | "kind" | "namespace" | "name" | "labelSelector" | "fieldSelector"
> {
  signal: AbortSignal;
  /** Called with all objects at the start, after each change and after each outage. */
  onObjects: (objects: O[]) => void;
  /** Called with the error text during an outage; following continues. */
  onTrouble?: (words: string) => void;
}

/** A watch has a deadline, after which a new one starts. */
const TURN_SECONDS = 24 * 3600;
const FIRST_PAUSE_MILLISECONDS = 250;
const LONGEST_PAUSE_MILLISECONDS = 5000;

/**
 * Lists and watches objects until the signal aborts, through outages and expired versions (410). A kind that is not
 * served has no objects until it is.
 *
 * @throws KubernetesError 401 or 403, which retries do not fix
 */
export async function follow<O = KubernetesObject>(
  client: Pick<KubernetesClient, "watchUntil">,
  { signal, onObjects, onTrouble, ...what }: FollowArgs<O>,
): Promise<void> {
  let next = FIRST_PAUSE_MILLISECONDS;
  while (!signal.aborted) {
    try {
      await client.watchUntil<never, O>({
        ...what,
        what: `changes of ${what.kind}`,
        seconds: TURN_SECONDS,
        signal,
        decide: (objects) => {
          next = FIRST_PAUSE_MILLISECONDS;
          onObjects(objects);
          return { pending: "nothing new" };
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof KubernetesError && (error.status === 401 || error.status === 403)) throw error;
      if (error instanceof KindNotServed) onObjects([]);
      else onTrouble?.(messageOf(error));
      await pause(next, undefined, { signal }).catch(() => undefined);
      next = Math.min(next * 2, LONGEST_PAUSE_MILLISECONDS);
    }
  }
}
