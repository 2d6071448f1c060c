import { setTimeout as pause } from "node:timers/promises";
import { ReplyLost, TumblebugRefusal } from "./errors";

/** How long a change whose answer was lost is looked for. */
export interface Looking {
  /** between two looks */
  readonly milliseconds: number;
  readonly times: number;
}

export const LOOKING: Looking = { milliseconds: 2000, times: 3 };

/**
 * Makes something by a request that must not be sent twice blindly. When its answer is lost, what it was to make is
 * looked for; only when it isn't there the request is sent a second time, and one that meets what the first made after all
 * ("already exists") is no error.
 *
 * @param look undefined while it isn't there
 * @throws ReplyLost when the second answer is lost too and nothing is seen; what `send` and `look` throw
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
