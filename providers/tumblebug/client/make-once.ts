import { setTimeout as pause } from "node:timers/promises";
import { ReplyLost, TumblebugRefusal } from "./errors";

/** How long to search for the effect of a change whose response was lost. */
export interface Looking {
  /** Pause between two searches. */
  readonly milliseconds: number;
  readonly times: number;
}

export const LOOKING: Looking = { milliseconds: 2000, times: 3 };

/**
 * Creates an object with a request that is not idempotent. If the response is lost, searches for the object, and
 * sends the request a second time only if it does not exist. The error "already exists" of the second request counts
 * as success.
 *
 * @param look returns the object, or undefined if it does not exist
 * @throws ReplyLost if the second response is lost too and the object is not found; errors of `send` and `look`
 */
export async function makeOnce<T>(
  send: () => Promise<T>,
  look: () => Promise<T | undefined>,
  { looking, signal }: { looking: Looking; signal?: AbortSignal },
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ReplyLost)) throw error;
  }
  const seen = await lookOften(look, looking, signal);
  if (seen !== undefined) return seen;
  try {
    return await send();
  } catch (error) {
    const isThere = error instanceof TumblebugRefusal && error.code === "AlreadyExists";
    if (!isThere && !(error instanceof ReplyLost)) throw error;
    const found = await lookOften(look, looking, signal);
    if (found === undefined) throw error;
    return found;
  }
}

async function lookOften<T>(
  look: () => Promise<T | undefined>,
  { milliseconds, times }: Looking,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  for (let batch = 1; ; batch++) {
    const seen = await look();
    if (seen !== undefined || batch === times) return seen;
    await pause(milliseconds, undefined, signal ? { signal } : {});
  }
}
