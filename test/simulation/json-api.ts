import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The status of an answer, and its body. */
export type Answer = [number, unknown];

/** A simulated server on 127.0.0.1 that answers each request with JSON. */
export abstract class JsonApi {
  private readonly server: Server = createServer((request, response) => {
    void this.answer(request).then(([status, body]) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });

  async start(): Promise<this> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return this;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  protected get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  protected abstract answer(request: IncomingMessage): Promise<Answer>;
}
