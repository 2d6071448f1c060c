import { request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";

export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  url: string;
  headers?: Record<string, string>;
  body?: unknown;
  milliseconds: number;
  signal?: AbortSignal;
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The response's JSON; undefined when it isn't JSON. */
  body: unknown;
}

/** Sends requests over keep-alive connections, with the certificates that the configuration trusts. */
export class HttpClient {
  private readonly agent: Agent;

  constructor(tls: { caCertificates?: string; verify: boolean }) {
    this.agent = new Agent({
      keepAlive: true,
      rejectUnauthorized: tls.verify,
      ...(tls.caCertificates === undefined ? {} : { ca: tls.caCertificates }),
    });
  }

  /** @throws Error when no complete response arrived */
  send({ method, url, headers = {}, body, milliseconds, signal }: HttpRequest): Promise<Reply> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const isPlain = url.startsWith("http:");
    return new Promise((resolve, reject) => {
      const request = (isPlain ? httpRequest : httpsRequest)(
        url,
        {
          method,
          signal,
          ...(isPlain ? {} : { agent: this.agent }),
          headers: {
            Accept: "application/json",
            ...(payload === undefined
              ? {}
              : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(payload)) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", fail);
          response.on("end", () => {
            clearTimeout(timer);
            const text = Buffer.concat(chunks).toString("utf8");
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              body: parseJson(text),
            });
          });
        },
      );
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer within ${milliseconds / 1000} s`)),
        milliseconds,
      );
      const fail = (error: Error) => {
        clearTimeout(timer);
        reject(error);
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
