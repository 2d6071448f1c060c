import { type Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { abortError } from "../abort";
import { KubernetesError, NoAnswer } from "./errors";
import type { Endpoint } from "./kubeconfig";

export type Query = Record<string, string | number | boolean | undefined>;

export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** an absolute path, such as "/api/v1/nodes" */
  path: string;
  query?: Query;
  body?: unknown;
  contentType?: string;
  milliseconds?: number;
  signal?: AbortSignal;
}

const TIMEOUT_MILLISECONDS = 15_000;

const UNTRUSTED =
  /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_SSL|ERR_TLS)/;
const NEVER_CONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

/** Calls one API server over keep-alive connections. */
export class Transport {
  readonly agent: HttpAgent;

  constructor(
    readonly endpoint: Endpoint,
    private readonly userAgent: string,
  ) {
    this.agent = new Agent({ keepAlive: true, ...endpoint.tls });
  }

  get headers(): Record<string, string> {
    return { ...this.endpoint.headers, "User-Agent": this.userAgent };
  }

  /**
   * @returns the response's JSON, or its text when it isn't JSON
   * @throws KubernetesError, NoAnswer, the signal's reason
   */
  async call(call: Call): Promise<unknown> {
    const { status, text } = await this.send(call);
    if (status >= 200 && status < 300) return parseJson(text) ?? text;
    throw answeredError(status, text, `${call.method} ${call.path}`);
  }

  close(): void {
    this.agent.destroy();
  }

  private send(call: Call): Promise<{ status: number; text: string }> {
    const url = withQuery(this.endpoint.server.replace(/\/$/, "") + call.path, call.query);
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const headers: Record<string, string> = { ...this.headers, Accept: "application/json" };
    if (body !== undefined) {
      headers["Content-Type"] = call.contentType ?? "application/json";
      // Node.js omits it for DELETE, and the server would parse the body as another request
      headers["Content-Length"] = String(Buffer.byteLength(body));
    }
    const milliseconds = call.milliseconds ?? TIMEOUT_MILLISECONDS;
    const start = url.startsWith("http:") ? httpRequest : httpsRequest;
    return new Promise((resolve, reject) => {
      const { signal } = call;
      if (signal?.aborted) return reject(abortError(signal));
      const agent = url.startsWith("http:") ? undefined : this.agent;
      const request = start(url, { method: call.method, headers, agent, signal }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", fail);
        response.on("end", () => {
          clearTimeout(timer);
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
        });
      });
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer within ${milliseconds / 1000} s`)),
        milliseconds,
      );
      const fail = (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        if (signal?.aborted) return reject(abortError(signal));
        const code = error.code ?? "";
        const sent = !NEVER_CONNECTED.test(code) && !UNTRUSTED.test(code);
        reject(new NoAnswer(`${this.endpoint.server}: ${describe(error)}`, sent, UNTRUSTED.test(code)));
      };
      request.on("error", fail);
      request.end(body);
    });
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

function answeredError(status: number, text: string, path: string): KubernetesError {
  const answer = (parseJson(text) ?? {}) as Status;
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(error: NodeJS.ErrnoException): string {
  if (error.code === "ECONNREFUSED") return "connection refused";
  if (error.code === "ECONNRESET") return "connection reset";
  return error.message;
}
