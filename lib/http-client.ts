import { type Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent, type AgentOptions, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import { createGunzip } from "node:zlib";
import { abortError } from "./abort";
import { parseJson } from "./json";

export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  headers?: Record<string, string | string[]>;
  /** Sent as JSON. */
  body?: unknown;
  /** Deadline of the complete response. */
  milliseconds: number;
  signal?: AbortSignal;
  /** Called with each line of a successful response as it arrives; then a line has a limit, and the response none. */
  onLine?: (line: string) => void;
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
/** Limit of a line, in MiB; an object of Kubernetes has at most 1.5 MiB in etcd. */
const MOST_LINE_MEBIBYTES = 8;
const NEWLINE = 10;

/** A response that is larger than its client accepts. The request may have been carried out. */
export class AnswerTooLarge extends Error {
  readonly code = "AnswerTooLarge";
  readonly next = "check the address, and what answers there";

  constructor(method: string, url: string, mebibytes: number, what = "the answer") {
    const { origin, pathname } = new URL(url);
    super(`${method} ${origin}${pathname}: ${what} is larger than ${mebibytes} MiB`);
  }
}

/** Sends requests over keep-alive connections. Never follows a redirect, so credentials reach only the given URL. */
export class HttpClient {
  /** Keeps the connections of https; Node.js's own agent keeps those of http. */
  readonly agent: HttpAgent;

  /**
   * @param tls the certificates to trust, and the client's own
   * @param mostMebibytes limit of a response's body
   * @param proxy connects through a proxy, with the certificates that a request names
   */
  constructor(
    private readonly tls: AgentOptions,
    private readonly mostMebibytes = MOST_MEBIBYTES,
    private readonly proxy?: HttpAgent,
  ) {
    this.agent = proxy ?? new Agent({ keepAlive: true, ...tls });
  }

  /** @throws AnswerTooLarge; Error when no complete response arrived; the signal's reason */
  send(sent: HttpRequest): Promise<HttpResponse> {
    const { method, url, headers = {}, body, milliseconds, signal, onLine } = sent;
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
        ...(isPlain && !this.proxy ? {} : { agent: this.agent }),
        ...(this.proxy && { ...(this.tls.servername ? {} : identityOf(url)), ...this.tls }),
      };
      const request = (isPlain ? httpRequest : httpsRequest)(url, options, (response) => {
        const chunks: Buffer[] = [];
        const isOfLines = onLine !== undefined && response.statusCode === 200;
        const [most, what] = isOfLines
          ? [MOST_LINE_MEBIBYTES, "a line of the answer"]
          : [this.mostMebibytes, "the answer"];
        let bytes = 0;
        const take = (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= most * 2 ** 20) chunks.push(chunk);
          else {
            fail(new AnswerTooLarge(method, url, most, what));
            request.destroy();
          }
        };
        const takeLines = (chunk: Buffer) => {
          let rest = chunk;
          for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
            take(rest.subarray(0, end));
            onLine?.(Buffer.concat(chunks.splice(0)).toString("utf8"));
            bytes = 0;
            rest = rest.subarray(end + 1);
          }
          take(rest);
        };
        const isCompressed = response.headers["content-encoding"] === "gzip";
        const received: Readable = isCompressed ? response.pipe(createGunzip()) : response;
        received.on("data", isOfLines ? takeLines : take);
        response.on("error", fail);
        received.on("error", fail);
        received.on("end", () => {
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
      // the agent passes a refusal of the proxy on, which would count as the server's answer
      request.on("proxyConnect", ({ statusCode }: { statusCode: number }) => {
        if (statusCode === 200) return;
        fail(new Error(`the proxy refuses the connection with status ${statusCode}`));
        request.destroy();
      });
      request.end(payload);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Returns options that compare a certificate with the URL's own address: a proxy's agent would take localhost for an IP address. */
function identityOf(url: string): Pick<ConnectionOptions, "checkServerIdentity"> {
  const address = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return {
    checkServerIdentity: (_name, certificate) => checkServerIdentity(address, certificate),
  };
}

/** Returns whether a failed request can't have reached the server; then it is safe to send even a change again. */
export function wasNeverSent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"].includes(code);
}
