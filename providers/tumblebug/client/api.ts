import { setTimeout as pause } from "node:timers/promises";
import { redact } from "../../../lib/text/redaction";
import {
  AnswerTooLarge,
  HttpClient,
  wasNeverSent,
  type HttpRequest,
  type HttpResponse,
} from "../../../lib/http-client";
import { retryAfterSeconds } from "../../../lib/retry-after";
import { Transient, waitFor, WaitTimeout } from "../../../lib/wait";
import {
  refusalCode,
  remoteWords,
  ReplyLost,
  TumblebugRefusal,
  TumblebugUnreachable,
  UnexpectedAnswer,
} from "./errors";
import type { Generation } from "../plan/model";

/** Connection options for a server. */
export interface TumblebugSettings {
  /** URL with the path: "http://localhost:1323/tumblebug". */
  readonly address: string;
  readonly user: string;
  /** Secret. */
  readonly password: string;
  /** @default detected from the server */
  readonly generation?: Generation;
  /** PEM certificates to trust in addition to the system's. */
  readonly caCertificates?: string;
}

export interface TumblebugOptions {
  /** Deadline of a short call, including retries. @default 120 */
  readonly seconds?: number;
  /** Deadline of a call that creates or terminates VMs. @default 2400 */
  readonly longSeconds?: number;
  readonly signal?: AbortSignal;
  readonly progress?: (line: string) => void;
  /** For tests: how often to search for the effect of a change whose response was lost, and the pause. */
  readonly looking?: { readonly milliseconds: number; readonly times: number };
  /** For tests: separate rate limits. @default limits that all clients of a server share in this process */
  readonly limits?: ReturnType<typeof newLimits>;
}

export interface ApiCall {
  readonly method: HttpRequest["method"];
  /** Path below the server's address, starting with "/". */
  readonly path: string;
  readonly body?: unknown;
  /** Whether the request may be sent again. If not, a lost response results in ReplyLost. */
  readonly isRepeatable: boolean;
  /** Whether the request reads an infrastructure, which has a lower rate limit. */
  readonly isInfrastructureRead?: boolean;
  /** Whether the request creates or terminates VMs. */
  readonly isLong?: boolean;
}

/** Waits until a request is allowed. @throws the signal's reason */
type RateLimit = (signal?: AbortSignal) => Promise<void>;

/** Returns a limit of `perSecond` requests, and up to `burst` at once after a pause. Further requests wait in order. */
export function rateLimit(perSecond: number, burst: number): RateLimit {
  const interval = 1000 / perSecond;
  let booked = 0;
  return async (signal) => {
    const now = performance.now();
    booked = Math.max(booked, now) + interval;
    const wait = booked - now - burst * interval;
    if (wait <= 0) return;
    try {
      await pause(wait, undefined, { signal });
    } catch (error) {
      booked -= interval;
      throw error;
    }
  };
}

/** The limits of one server: of all requests, and additionally of reading infrastructures. */
export const newLimits = () => ({ overall: rateLimit(20, 10), infrastructureReads: rateLimit(2, 1) });

/** The limits by the server's address. All clients in this process share them, as the server counts them together. */
const limits = new Map<string, ReturnType<typeof newLimits>>();

const READ_MILLISECONDS = 75_000;
const PASSING = [429, 502, 503, 504];
const LONGEST_ASKED_PAUSE_SECONDS = 60;

/** Sends requests to a Tumblebug server, with authentication, rate limits, deadlines and retries. */
export class TumblebugApi {
  private readonly http: HttpClient;
  private readonly address: string;
  private readonly authorization: string;
  private readonly limits: ReturnType<typeof newLimits>;

  constructor(
    private readonly settings: TumblebugSettings,
    readonly options: TumblebugOptions,
  ) {
    this.http = new HttpClient({ ca: settings.caCertificates });
    this.limits = options.limits ?? limits.get(settings.address) ?? newLimits();
    if (!options.limits) limits.set(settings.address, this.limits);
    this.address = settings.address.replace(/\/+$/, "");
    this.authorization = `Basic ${Buffer.from(`${settings.user}:${settings.password}`).toString("base64")}`;
  }

  secondsOf(call: Pick<ApiCall, "isLong">): number {
    return call.isLong === true ? (this.options.longSeconds ?? 2400) : (this.options.seconds ?? 120);
  }

  /**
   * Sends a request. Retries with growing pauses if the request is repeatable and the server is temporarily
   * unavailable.
   *
   * @returns a successful response, with JSON or without a body
   * @throws TumblebugRefusal, also for a redirect; TumblebugUnreachable, UnexpectedAnswer; ReplyLost if it is not
   *   repeatable and may have been carried out
   */
  async call(call: ApiCall): Promise<HttpResponse> {
    const what = `${call.method} ${decodeURI(call.path)}`;
    const seconds = this.secondsOf(call);
    let refusal: HttpResponse | undefined;
    let isSent = false;
    try {
      const reply = await waitFor<HttpResponse>({
        what: `an answer to ${what}`,
        seconds,
        firstPauseMilliseconds: 500,
        signal: this.options.signal,
        progress: this.options.progress,
        probe: async (signal) => {
          isSent = false;
          if (call.isInfrastructureRead === true) await this.limits.infrastructureReads(signal);
          await this.limits.overall(signal);
          isSent = true;
          const reply = await this.send(call, what, seconds, signal).catch((error: unknown) => {
            // when only the time is up, what the server said before counts
            if (!signal.aborted) refusal = undefined;
            throw error;
          });
          isSent = false;
          if (!PASSING.includes(reply.status)) return { done: reply };
          if (reply.status !== 429 && !call.isRepeatable) throw new ReplyLost(what, this.words(reply.text));
          refusal = reply;
          return {
            pending: `${reply.status} ${this.words(reply.text)}`,
            seconds: Math.min(retryAfterSeconds(reply), LONGEST_ASKED_PAUSE_SECONDS),
          };
        },
      });
      if (reply.status >= 300) throw this.refusal(call, what, reply);
      if (reply.body === undefined && reply.text.trim() !== "")
        throw new UnexpectedAnswer(what, "the response is not JSON");
      return reply;
    } catch (error) {
      if (!(error instanceof WaitTimeout)) throw error;
      if (isSent && !call.isRepeatable) throw new ReplyLost(what, `no answer within ${seconds} s`);
      if (refusal !== undefined) throw this.refusal(call, what, refusal);
      throw new TumblebugUnreachable(what, error.lastSeen, seconds);
    }
  }

  close(): void {
    this.http.close();
  }

  private async send(
    call: ApiCall,
    what: string,
    seconds: number,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const { method, path, body, isRepeatable } = call;
    try {
      return await this.http.send({
        method,
        url: `${this.address}${path}`,
        headers: { Authorization: this.authorization },
        body,
        milliseconds: method === "GET" && isRepeatable ? READ_MILLISECONDS : seconds * 1000,
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      const reason = this.hide((error as Error).message);
      if (isRepeatable && error instanceof AnswerTooLarge) throw new UnexpectedAnswer(what, reason);
      if (isRepeatable || wasNeverSent(error)) throw new Transient(reason);
      throw new ReplyLost(what, reason);
    }
  }

  private refusal(call: ApiCall, what: string, reply: HttpResponse): TumblebugRefusal {
    const code = refusalCode(call, reply.status, reply.text);
    const words = code === "Redirected" ? `redirects to ${String(reply.headers.location)}` : reply.text;
    return new TumblebugRefusal(what, reply.status, this.words(words), code, this.hide(words));
  }

  private words(text: string): string {
    return this.hide(remoteWords(text));
  }

  /** Removes the credentials from a text of the server. */
  readonly hide = (text: string): string => {
    const { user, password } = this.settings;
    const secrets = [this.authorization, this.authorization.slice("Basic ".length), `${user}:${password}`];
    // A short password may also occur as another word, such as the name of a namespace.
    if (password.length >= 8) secrets.push(password);
    return secrets.reduce((words, secret) => words.replaceAll(secret, "[secret]"), redact(text));
  };
}
