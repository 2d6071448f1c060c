import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a path of the server answers: bytes (ranges are respected), or a handler that misbehaves. */
export type Answer = Buffer | ((request: IncomingMessage, response: ServerResponse) => void);

/** A local HTTP server in place of the publishers of programs. */
export interface FileServer {
  readonly url: string;
  /** "METHOD PATH RANGE" of every request so far. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** Serves the files on a free port of 127.0.0.1. */
export async function serveFiles(files: Readonly<Record<string, Answer>>): Promise<FileServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const range = request.headers.range;
    requests.push([request.url, range].filter(Boolean).join(" "));
    const answer = files[request.url ?? ""];
    if (answer === undefined) return void response.writeHead(404).end();
    if (typeof answer === "function") return answer(request, response);
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    if (from > 0 && from >= answer.length) return void response.writeHead(416).end();
    const body = answer.subarray(from);
    response.writeHead(from > 0 ? 206 : 200, { "content-length": body.length }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
