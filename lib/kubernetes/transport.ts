import { HttpClient, type HttpRequest, type HttpResponse, wasNeverSent } from "../http-client";
import { KubernetesError, NoAnswer } from "./errors";
import type { Endpoint } from "./kubeconfig";

export type Query = Record<string, string | number | boolean | undefined>;

export interface Call extends Pick<HttpRequest, "method" | "body" | "signal"> {
  /** an absolute path, such as "/api/v1/nodes" */
  path: string;
  query?: Query;
  contentType?: string;
  milliseconds?: number;
}

const TIMEOUT_MILLISECONDS = 15_000;

/** Room for a list of all pods of a large cluster, in MiB. */
const MOST_MEBIBYTES = 256;

const UNTRUSTED =
  /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_SSL|ERR_TLS)/;

/** Calls one API server. */
export class Transport {
  private readonly http: HttpClient;

  constructor(
    readonly endpoint: Endpoint,
    private readonly userAgent: string,
  ) {
    this.http = new HttpClient(endpoint.tls, MOST_MEBIBYTES);
  }

  /** What another client needs to call the same server over the same connections. */
  get access() {
    return {
      server: this.endpoint.server.replace(/\/$/, ""),
      agent: this.http.agent,
      headers: { ...this.endpoint.headers, "User-Agent": this.userAgent },
    };
  }

  /**
   * @returns the response's JSON, or its text when it isn't JSON
   * @throws KubernetesError, NoAnswer, the signal's reason
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
    const { server, headers } = this.access;
    const { method, body, signal, contentType, milliseconds = TIMEOUT_MILLISECONDS } = call;
    const type: Record<string, string> = contentType === undefined ? {} : { "Content-Type": contentType };
    const url = withQuery(server + call.path, call.query);
    try {
      return await this.http.send({
        method,
        url,
        headers: { ...headers, ...type },
        body,
        milliseconds,
        signal,
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      const isUntrusted = UNTRUSTED.test((error as NodeJS.ErrnoException).code ?? "");
      const words = `${this.endpoint.server}: ${describe(error as NodeJS.ErrnoException)}`;
      throw new NoAnswer(words, !wasNeverSent(error) && !isUntrusted, isUntrusted);
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
  details?: { causes?: { message?: string }[] };
}

function answeredError({ status, text, body }: HttpResponse, path: string): KubernetesError {
  const answer = (body ?? {}) as Status;
  const causes = (answer.details?.causes ?? []).flatMap(({ message }) => (message ? [message] : []));
  const words = answer.message ?? failedChecks(text).slice(0, 300);
  return new KubernetesError(status, answer.reason ?? "Error", words || "no words", path, causes);
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
