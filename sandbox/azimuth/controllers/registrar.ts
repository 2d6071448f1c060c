/**
 * Simulates the Zenith registrar's admin API: POST /admin/reserve with public keys returns a subdomain. It runs no
 * tunnels; tests can read which key got which subdomain.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { subdomainOf, ZENITH_DOMAIN } from "./zenith";

export class Registrar {
  /** Every reservation in order: the public key and the subdomain. */
  readonly reservations: { publicKey: string; subdomain: string }[] = [];
  /** The number of next requests that fail with this status. */
  failures: { count: number; status: number } = { count: 0, status: 500 };

  private constructor(private readonly server: Server) {}

  static async start(port = 0): Promise<Registrar> {
    const server = createServer();
    const registrar = new Registrar(server);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { status, body } = registrar.answer(
          `${request.method ?? ""} ${request.url ?? ""}`,
          Buffer.concat(chunks).toString("utf8"),
        );
        response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
      });
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return registrar;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private answer(what: string, text: string): { status: number; body: unknown } {
    if (this.failures.count > 0) {
      this.failures.count -= 1;
      return { status: this.failures.status, body: { detail: "as was asked for" } };
    }
    if (what !== "POST /admin/reserve") return { status: 404, body: { detail: "Not Found" } };
    const { public_keys: keys } = JSON.parse(text) as { public_keys?: string[] };
    const [publicKey] = keys ?? [];
    if (publicKey === undefined || !/^ssh-ed25519 \S+/.test(publicKey))
      return { status: 422, body: { detail: "public_keys: no ssh-ed25519 key" } };
    // each request makes a new reservation, as in the real registrar
    const subdomain = subdomainOf(`${publicKey}${this.reservations.length}`);
    this.reservations.push({ publicKey, subdomain });
    return { status: 200, body: { subdomain, fqdn: `${subdomain}.${ZENITH_DOMAIN}` } };
  }
}
