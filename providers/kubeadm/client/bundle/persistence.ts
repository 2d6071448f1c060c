import { setTimeout as pause } from "node:timers/promises";
import { anySignal } from "../../../../lib/abort";
import { messageOf } from "../../../../lib/error-message";
import { requestOutbound } from "../../../../lib/outbound-request";
import { retryAfterSeconds } from "../../../../lib/retry-after";
import { displayLine } from "../../../../lib/text/display";
import { Transient } from "../../../../lib/wait";

/** How requests behave when servers do not answer as they should. */
export interface Patience {
  /** Attempts in a row without any progress. */
  readonly attempts: number;
  /** The pause after the first failed attempt; it doubles. */
  readonly pauseMilliseconds: number;
  /** How long a server may send nothing. */
  readonly idleMilliseconds: number;
  /** Time limit of a file with all attempts. */
  readonly fileSeconds: number;
}

export const PATIENCE: Patience = {
  attempts: 5,
  pauseMilliseconds: 1_000,
  idleMilliseconds: 60_000,
  fileSeconds: 7_200,
};

/** A server that asks for a longer pause is not waited for. */
const MOST_PAUSE_SECONDS = 300;

/** What requests of one run share. */
export interface BundleRequests {
  readonly patience: Patience;
  readonly say: (line: string) => void;
  /** Ends them. */
  readonly signal?: AbortSignal;
}

/**
 * Does work again while it fails for a time.
 *
 * @param attempt returns the result, or throws Transient; calls its argument when it got ahead, so that attempts begin to count anew
 * @throws Error of the last attempt
 */
export async function persistently<T>(
  what: string,
  { patience, say, signal: callers }: BundleRequests,
  attempt: (ahead: () => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const expired = AbortSignal.timeout(patience.fileSeconds * 1000);
  const signal = anySignal(expired, callers);
  let failed = 0;
  const ahead = () => (failed = 0);
  for (;;)
    try {
      return await attempt(ahead, signal);
    } catch (error) {
      callers?.throwIfAborted();
      if (expired.aborted)
        throw new Error(`${what}: not complete after ${patience.fileSeconds} s; run the command again`, {
          cause: error,
        });
      const { seconds = 0 } = error as Partial<Transient>;
      if (!(error instanceof Transient)) throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
      failed++;
      if (failed >= patience.attempts || seconds > MOST_PAUSE_SECONDS)
        throw new Error(`${what}: ${error.message}; run the command again, it continues from here`, {
          cause: error,
        });
      const milliseconds = Math.max(patience.pauseMilliseconds * 2 ** (failed - 1), seconds * 1000);
      say(
        `${what}: ${error.message}; attempt ${failed + 1} of ${patience.attempts} in ${milliseconds / 1000} s`,
      );
      await pause(milliseconds, undefined, { signal });
    }
}

/** An answer that a server gives for other statuses than were asked for. */
export class UnexpectedStatus extends Error {
  constructor(
    readonly status: number,
    readonly challenge: string | undefined,
    url: string,
  ) {
    const advice: Readonly<Record<number, string>> = {
      401: `; log in with: docker login ${new URL(url).host}`,
      403: `; log in with: docker login ${new URL(url).host}`,
      404: "; check the version, and the address of a mirror",
    };
    super(`${displayLine(new URL(url).href)} answers with ${status}${advice[status] ?? ""}`);
  }
}

/**
 * Sends a request.
 *
 * @param accepted statuses of answers that are returned
 * @throws Transient for a broken connection and for statuses that pass, UnexpectedStatus for others
 */
export async function ask(
  url: string,
  sent: Parameters<typeof requestOutbound>[1],
  accepted: readonly number[],
) {
  let response;
  try {
    response = await requestOutbound(url, sent);
  } catch (error) {
    throw new Transient(`${new URL(url).host} does not answer: ${messageOf(error)}`);
  }
  const { statusCode: status = 0, headers } = response;
  if (accepted.includes(status)) return response;
  response.resume();
  if ([408, 425, 429].includes(status) || status >= 500)
    throw new Transient(`${new URL(url).host} answers with ${status}`, retryAfterSeconds({ headers }));
  throw new UnexpectedStatus(status, headers["www-authenticate"], url);
}

/** Returns the content of a small answer. @throws Transient for an incomplete one */
export async function contentOf(response: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > mostBytes) break;
    }
  } catch (error) {
    throw new Transient(`the answer broke off: ${messageOf(error)}`);
  }
  if (bytes > mostBytes) throw new Error(`the answer is larger than ${mostBytes >> 20} MiB`);
  return Buffer.concat(chunks);
}
