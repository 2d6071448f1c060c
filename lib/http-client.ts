import { type Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent, type AgentOptions, request as httpsRequest } from "node:https";
import { abortError } from "./abort";
import { parseJson } from "./json";

export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Deadline of the complete response. */
  milliseconds: number;
  signal?: AbortSignal;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The response's JSON; undefined when it isn't JSON. */
  body: unknown;
}

export class HttpClient {
  /** Keeps the connections of https; Node.js's own agent keeps those of http. */
  readonly agent: HttpAgent;

  /** @param tls the certificates to trust, and the client's own */
  constructor(tls: AgentOptions) {
    this.agent = new Agent({ keepAlive: true, ...tls });
  }

  /** @throws Error when no complete response arrived; the signal's reason */
  send({ method, url, headers = {}, body, milliseconds, signal }: HttpRequest): Promise<HttpResponse> {
    if (signal?.aborted) return Promise.reject(abortError(signal));
    const payload = body === undefined ? undefined : JSON.stringify(body);
    // Node.js omits the length for DELETE, and the server would parse the body as another request
    const described =
      payload === undefined
        ? {}
        : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(payload)) };
    const isPlain = url.startsWith("http:");
    return new Promise((resolve, reject) => {
      const options = {
        method,
        signal,
        headers: { Accept: "application/json", ...described, ...headers },
        ...(isPlain ? {} : { agent: this.agent }),
      };
      const request = (isPlain ? httpRequest : httpsRequest)(url, options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", fail);
        response.on("end", () => {
          clearTimeout(timer);
          const text = Buffer.concat(chunks).toString("utf8");
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, text, body: parseJson(text) });
        });
      });
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer within ${milliseconds / 1000} s`)),
        milliseconds,
      );
      const fail = (error: Error) => {
        clearTimeout(timer);
        reject(signal?.aborted ? abortError(signal) : error);
      };
      request.on("error", fail);
      request.end(payload);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Returns whether a failed request can't have reached the server; then it is safe to send even a change again. */
export function wasNeverSent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"].includes(code);
}
