import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { waitFor, WaitTimeout } from "../../../lib/wait";
import { readAnswer } from "./answer";
import type { ApiCall, TumblebugApi } from "./api";
import type { Dialect } from "./dialect";
import { isRefusal, ReplyLost, type TumblebugRefusal } from "./errors";

/** Default number of searches for the effect of a change whose response was lost, and the pause between them. */
const LOOKING = { milliseconds: 2000, times: 3 };

/** Default time to retry an object in use, because an object that used it may have been deleted only just now. */
const IN_USE_SECONDS = 20;

const check = z.union([
  z.boolean(),
  z.looseObject({ exists: z.boolean() }).transform(({ exists }) => exists),
]);

/** An object on the server that may not exist. */
export interface Item {
  /** Name in messages, such as "the vNet v1". */
  readonly what: string;
  readonly path: string;
  /** Returns whether the object exists, from a request that a failure can't be mistaken for. */
  readonly isThere: () => Promise<boolean>;
}

/** Options for a deletion. */
interface Deletion extends Item {
  readonly query?: string;
  /** Query of a second request after the cloud said that it does not have the object. @default none */
  readonly forceQuery?: string;
  readonly isLong?: boolean;
  /** Whether to retry a deletion that is not allowed now. @default false: throws the refusal */
  readonly isPatient?: boolean;
  /** Returns whether the object is being deleted although the request failed without a known reason; then retries. */
  readonly isEnding?: () => Promise<boolean>;
  /** Time to retry an object in use, in seconds. @default 20 */
  readonly inUseSeconds?: number;
}

/** A message about what leads to the cloud, which says nothing about the object there. */
const ABOUT_THE_WAY =
  /^[\w-]+: does not exist|\b(connection|connConfig|region|credential|driver)\b[^,;]{0,40}(does not exist|not found)/i;

/** Returns whether a refused deletion says that the cloud does not have the object. */
const isGoneInCloud = ({ code, words }: TumblebugRefusal): boolean =>
  code === "NotFound" && !ABOUT_THE_WAY.test(words);

/** Returns a path of these segments; absent ones are left out. */
export const pathOf = (...segments: readonly (string | undefined)[]): string =>
  segments.flatMap((one) => (one === undefined ? [] : `/${encodeURIComponent(one)}`)).join("");

/** The kinds of requests that all calls are made of, with the dialect of the server's generation. */
export class Requests {
  constructor(
    readonly api: TumblebugApi,
    readonly dialect: Dialect,
  ) {}

  /** Sends a request and parses its response. @param call by default, a GET that may be repeated */
  async send<T>(path: string, answer: z.ZodType<T>, call: Partial<ApiCall> = {}): Promise<T> {
    const { method = "GET", isRepeatable = true } = call;
    const reply = await this.api.call({ ...call, method, path, isRepeatable });
    return readAnswer(`${method} ${path}`, answer, reply);
  }

  /**
   * Reads an object that may not exist. Trusts only a 404 of a server that answers 404 for missing objects. Any other
   * error status may be a failure, whatever its message, and an object that seems missing would be created twice or
   * left behind.
   */
  async find<T>(
    { path, isThere }: Item,
    answer: z.ZodType<T>,
    call: Partial<ApiCall> = {},
  ): Promise<T | undefined> {
    const { saysNotFound } = this.dialect;
    try {
      return await this.send(path, answer, call);
    } catch (error) {
      if (isRefusal(error, "NamespaceNotFound")) return undefined;
      if (saysNotFound && isRefusal(error, "NotFound") && error.status === 404) return undefined;
      if (!isRefusal(error, "NotFound", ...(saysNotFound ? [] : (["Refused"] as const)))) throw error;
      if (await isThere()) throw error;
      return undefined;
    }
  }

  /** Sends a request; returns `none` if it is refused with one of these codes. */
  async orElse<T>(none: T, codes: readonly TumblebugRefusal["code"][], send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if (isRefusal(error, ...codes)) return none;
      throw error;
    }
  }

  /** Calls an existence check of the server. Returns false if the namespace does not exist. */
  exists(path: string): Promise<boolean> {
    return this.orElse(false, ["NamespaceNotFound", "NotFound"], () => this.send(path, check));
  }

  /**
   * Creates an object with a POST, which is not idempotent. If the response is lost, searches for the object, and sends
   * the request a second time only if it does not exist. The error "already exists" of the second request counts as
   * success.
   *
   * @param look returns the object, or undefined if it does not exist
   * @throws ReplyLost if the second response is lost too and the object is not found
   */
  async create<T>(
    path: string,
    body: object,
    answer: z.ZodType<T>,
    look: () => Promise<T | undefined>,
    { isLong = false } = {},
  ): Promise<T> {
    const send = () => this.send(path, answer, { method: "POST", body, isRepeatable: false, isLong });
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ReplyLost)) throw error;
    }
    const seen = await this.search(look);
    if (seen !== undefined) return seen;
    try {
      return await send();
    } catch (error) {
      if (!isRefusal(error, "AlreadyExists") && !(error instanceof ReplyLost)) throw error;
      const found = await this.search(look);
      if (found === undefined) throw error;
      return found;
    }
  }

  private async search<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
    const { milliseconds, times } = this.api.options.looking ?? LOOKING;
    for (let attempt = 1; ; attempt++) {
      const seen = await look();
      if (seen !== undefined || attempt === times) return seen;
      await pause(milliseconds, undefined, { signal: this.api.options.signal });
    }
  }

  /**
   * Deletes an object and waits until it no longer exists. Waits for an asynchronous deletion (202), and retries one
   * that the cloud has not confirmed (409).
   *
   * @returns false if the object did not exist
   * @throws TumblebugRefusal: "InUse", "NotAllowedNow", "DeletionPending" at the deadline
   */
  async delete({ what, isLong, isThere, isPatient, isEnding, ...options }: Deletion): Promise<boolean> {
    const { inUseSeconds = IN_USE_SECONDS, query = "", forceQuery = "" } = options;
    let path = options.path + query;
    const { signal, progress } = this.api.options;
    const began = Date.now();
    let last: TumblebugRefusal | undefined;
    let isAccepted = false;
    const mayPass = async ({ code }: TumblebugRefusal) =>
      code === "DeletionPending" ||
      (code === "NotAllowedNow" && isPatient === true) ||
      (code === "InUse" && Date.now() - began < inUseSeconds * 1000) ||
      (code === "Refused" && (await isEnding?.()) === true);
    try {
      return await waitFor<boolean>({
        what: `${what} to be deleted`,
        seconds: this.api.secondsOf({ isLong }),
        firstPauseMilliseconds: 500,
        signal,
        progress,
        probe: async () => {
          if (isAccepted)
            return (await isThere()) ? { pending: "the server is deleting it" } : { done: true };
          try {
            const { status } = await this.api.call({ method: "DELETE", path, isRepeatable: true, isLong });
            if (status !== 202) return { done: true };
            isAccepted = true;
            return { pending: "its deletion was accepted" };
          } catch (error) {
            if (isRefusal(error, "NamespaceNotFound")) return { done: false };
            if (!isRefusal(error, "NotFound", "Refused", "InUse", "DeletionPending", "NotAllowedNow"))
              throw error;
            if (!(await isThere())) return { done: last !== undefined };
            last = error;
            if (forceQuery !== "" && path === options.path + query && isGoneInCloud(error)) {
              path = options.path + forceQuery;
              return { pending: `${error.remote}; delete its record by force` };
            }
            if (await mayPass(error)) return { pending: error.message };
            throw error;
          }
        },
      });
    } catch (error) {
      if (error instanceof WaitTimeout && last !== undefined) throw last;
      throw error;
    }
  }
}
