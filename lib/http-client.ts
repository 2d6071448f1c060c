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

/** Default limit of a response's body, in MiB. */
const MOST_MEBIBYTES = 32;

/** A response that is larger than its client accepts. The request may have been carried out. */
export class AnswerTooLarge extends Error {
  readonly code = "AnswerTooLarge";
  readonly next = "check the address, and what answers there";

  constructor(method: string, url: string, mebibytes: number) {
    const { origin, pathname } = new URL(url);
    super(`${method} ${origin}${pathname}: the answer is larger than ${mebibytes} MiB`);
  }
}

/** Sends requests over keep-alive connections. Never follows a redirect, so credentials reach only the given URL. */
export class HttpClient {
  /** Keeps the connections of https; Node.js's own agent keeps those of http. */
  readonly agent: HttpAgent;

  /**
   * @param tls the certificates to trust, and the client's own
   * @param mostMebibytes limit of a response's body
   */
  constructor(
    tls: AgentOptions,
    private readonly mostMebibytes = MOST_MEBIBYTES,
  ) {
    this.agent = new Agent({ keepAlive: true, ...tls });
  }

  /** @throws AnswerTooLarge; Error when no complete response arrived; the signal's reason */
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
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= this.mostMebibytes * 2 ** 20) chunks.push(chunk);
          else request.destroy(new AnswerTooLarge(method, url, this.mostMebibytes));
        });
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
