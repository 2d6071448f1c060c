import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import path from "node:path";
import type { Certificate } from "../support/certificates";

/** A company's server beside its machines: serves a folder, and the same folder as its proxy under any name. */
export class SiteServer {
  /** Paths that were requested directly. */
  readonly direct: string[] = [];
  /** What the header X-Site of requests has. */
  readonly sites: string[] = [];
  /** URLs that were requested through it as a proxy. */
  readonly proxied: string[] = [];
  /** How many requests to it as a proxy had no login, or another one. */
  refused = 0;
  private login: string | undefined;

  private constructor(
    private readonly server: Server,
    private readonly folder: string,
    readonly url: string,
  ) {
    this.serve(server);
  }

  /** As a proxy, answers only requests with this user and password ("user:password"). */
  requireLogin(login: string): void {
    this.login = `Basic ${Buffer.from(login).toString("base64")}`;
  }

  private hasLogin({ headers }: IncomingMessage): boolean {
    if (this.login === undefined || headers["proxy-authorization"] === this.login) return true;
    this.refused++;
    return false;
  }

  private serve(server: Server, origin = ""): void {
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.answer(request, response, origin).catch(() => response.writeHead(404).end());
    });
  }

  /** Answers https requests through it as a proxy, for the host of this certificate. */
  proxyHttps(host: string, certificate: Certificate): void {
    const inner = createTlsServer({ key: certificate.key, cert: certificate.certificate });
    this.serve(inner, `https://${host}`);
    this.server.on("connect", (request: IncomingMessage, socket: Socket) => {
      if (request.url !== `${host}:443`) return void socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      if (!this.hasLogin(request))
        return void socket.end(
          "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n",
        );
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.on("error", () => socket.destroy());
      inner.emit("connection", socket);
    });
  }

  /** @param address an address of this machine on the nodes' own network */
  static async start(folder: string, address: string, certificate?: Certificate): Promise<SiteServer> {
    const server = certificate
      ? createTlsServer({ key: certificate.key, cert: certificate.certificate })
      : createServer();
    server.listen(0, address);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return new SiteServer(server, folder, `${certificate ? "https" : "http"}://${address}:${port}`);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse, origin: string): Promise<void> {
    const asked = origin + (request.url ?? "/");
    const isProxied = /^https?:/.test(asked);
    if (isProxied && origin === "" && !this.hasLogin(request))
      return void response.writeHead(407, { "proxy-authenticate": "Basic" }).end();
    this.sites.push(...[request.headers["x-site"] ?? []].flat());
    (isProxied ? this.proxied : this.direct).push(asked);
    const { pathname } = new URL(asked, "http://site");
    const file = path.join(this.folder, decodeURIComponent(pathname));
    const { size } = await stat(file);
    response.writeHead(200, { "content-length": size });
    createReadStream(file, { highWaterMark: 1 << 20 }).pipe(response);
  }
}
