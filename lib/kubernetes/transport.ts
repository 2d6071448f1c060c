import {
  AnswerTooLarge,
  HttpClient,
  type HttpRequest,
  type HttpResponse,
  wasNeverSent,
} from "../http-client";
import { clockAdvice } from "../clock";
import { certificateClockAdvice } from "./api-server-health";
import { KubernetesError, NoAnswer } from "./errors";
import type { ApiEndpoint } from "./kubeconfig";

export type Query = Record<string, string | number | boolean | undefined>;

export interface Call extends Pick<HttpRequest, "method" | "body" | "signal" | "onLine"> {
  /** an absolute path, such as "/api/v1/nodes" */
  path: string;
  query?: Query;
  contentType?: string;
  /** media type of the answer; default: JSON of whole objects */
  accept?: string;
  milliseconds?: number;
  /** called when a request may have had its effect although it failed, before it is repeated */
  onUnsure?: () => void;
}

const TIMEOUT_MILLISECONDS = 15_000;

/** Limit of a response's body, in MiB: room for a page of a list. */
const MOST_MEBIBYTES = 64;

const UNTRUSTED =
  /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_SSL|ERR_TLS)/;

/** For a certificate that is not yet or no longer valid by the clock here. */
const OF_A_CLOCK = ["CERT_NOT_YET_VALID", "CERT_HAS_EXPIRED"];

/** Calls one API server. */
export class Transport {
  private readonly http: HttpClient;

  constructor(
    readonly endpoint: ApiEndpoint,
    private readonly userAgent: string,
  ) {
    this.http = new HttpClient(endpoint.tls, MOST_MEBIBYTES, endpoint.proxy?.agent);
  }

  /**
   * @returns the response's JSON, or its text when it isn't JSON
   * @throws KubernetesError, NoAnswer, AnswerTooLarge, the signal's reason
   */
  async call(call: Call): Promise<unknown> {
    const response = await this.send(call);
    if (response.status >= 200 && response.status < 300) return response.body ?? response.text;
    throw answeredError(response, `${call.method} ${call.path}`);
  }

  close(): void {
    this.http.close();
  }

  private async send(call: Call): Promise<HttpResponse> {
    const { path, query, contentType, accept, milliseconds = TIMEOUT_MILLISECONDS } = call;
    const { method, body, signal, onLine } = call;
    const headers: Record<string, string | string[]> = {
      ...this.endpoint.headers,
      "User-Agent": this.userAgent,
      "Accept-Encoding": "gzip",
      ...(contentType === undefined ? {} : { "Content-Type": contentType }),
      ...(accept === undefined ? {} : { Accept: accept }),
    };
    const url = withQuery(this.endpoint.server.replace(/\/$/, "") + path, query);
    try {
      return await this.http.send({ method, body, signal, onLine, url, headers, milliseconds });
    } catch (error) {
      if (call.signal?.aborted || error instanceof AnswerTooLarge) throw error;
      const isUntrusted = UNTRUSTED.test((error as NodeJS.ErrnoException).code ?? "");
      const { server, proxy } = this.endpoint;
      const way = proxy === undefined ? server : `${server} through the proxy ${proxy.address}`;
      const words = `${way}: ${describe(error as NodeJS.ErrnoException)}`;
      const isOfClock = OF_A_CLOCK.includes((error as NodeJS.ErrnoException).code ?? "");
      const advice = isOfClock ? await certificateClockAdvice(this.endpoint) : undefined;
      throw new NoAnswer(words, !wasNeverSent(error) && !isUntrusted, isUntrusted, advice);
    }
  }
}

/** Returns an address with its query; leaves out undefined values. */
function withQuery(address: string, query: Query | undefined): string {
  const url = new URL(address);
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== undefined) url.searchParams.set(key, String(value));
  }
  return url.toString();
}

interface Status {
  reason?: string;
  message?: string;
  details?: { causes?: { message?: string; reason?: string }[]; retryAfterSeconds?: number };
}

function answeredError({ status, text, body, headers }: HttpResponse, path: string): KubernetesError {
  const answer = (body ?? {}) as Status;
  const causes = answer.details?.causes ?? [];
  const messages = causes.flatMap(({ message }) => message ?? []);
  const reasons = causes.flatMap(({ reason }) => reason ?? []);
  const words = answer.message ?? failedChecks(text).slice(0, 300);
  const reason = answer.reason ?? "Error";
  // a date in the header is a limit that no API server uses
  const seconds = Number(answer.details?.retryAfterSeconds ?? headers["retry-after"]);
  const after = seconds > 0 ? seconds : undefined;
  // with a clock that differs, certificates and tokens are not valid yet, or no longer
  const date = new Date(String(headers.date));
  const advice = status === 401 ? clockAdvice("the clock of the API server", date, new Date()) : undefined;
  return new KubernetesError(
    ...([status, reason, words || "no words", path, messages, reasons, after, advice] as const),
  );
}

/**
 * Returns the failed checks of a /readyz response, which has a line for each check; the whole text of any other
 * response.
 */
function failedChecks(text: string): string {
  const lines = text.trim().split("\n");
  const failed = lines.filter((line) => line.startsWith("[-]"));
  return (failed.length > 0 ? failed : lines).join("; ");
}

function describe(error: NodeJS.ErrnoException): string {
  if (error.code === "ECONNREFUSED") return "connection refused";
  if (error.code === "ECONNRESET") return "connection reset";
  return error.message;
}
