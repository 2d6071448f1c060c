import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Request {
  method: string;
  path: string;
  token?: string;
  body: unknown;
}

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** What a test answers to a call of a service; undefined: 404. */
export type Service = (request: Request) => Answer | undefined;

/** Keystone and the services that a test simulates, on one port. Tokens are "token-1", "token-2" and so on. */
export class CloudServer {
  readonly requests: Request[] = [];
  /** Lifetime of new tokens. */
  tokenSeconds = 3600;
  /** Tokens that are refused before they expire. */
  readonly revoked = new Set<string>();
  /** Answered to the next authentications, before any succeeds. */
  readonly authenticationFaults: Answer[] = [];
  tokens = 0;
  hasLoadBalancers = false;
  hasVolumes = true;
  private readonly server: Server;

  constructor(private readonly service: Service = () => undefined) {
    this.server = createServer((request, response) => {
      void readBody(request).then((body) => {
        const token = request.headers["x-auth-token"];
        const {
          status,
          body: answer,
          headers,
        } = this.answer({
          method: request.method ?? "",
          path: request.url ?? "",
          ...(typeof token === "string" ? { token } : {}),
          body,
        });
        response.writeHead(status, { "Content-Type": "application/json", ...headers });
        response.end(answer === undefined ? "" : JSON.stringify(answer));
      });
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Calls of services, without those of Keystone. */
  get calls(): string[] {
    return this.requests
      .filter(({ path }) => !path.startsWith("/v3"))
      .map(({ method, path }) => `${method} ${path}`);
  }

  private answer(request: Request): Answer {
    this.requests.push(request);
    if (request.path === "/v3/auth/tokens") return this.authenticationFaults.shift() ?? this.newToken();
    if (request.token === undefined || this.revoked.has(request.token))
      return {
        status: 401,
        body: { error: { message: "The request you have made requires authentication." } },
      };
    return this.service(request) ?? { status: 404, body: { itemNotFound: { message: "there is none" } } };
  }

  private newToken(): Answer {
    const endpoint = (type: string, path: string) => ({
      type,
      endpoints: [
        { interface: "internal", region: "one", url: "http://127.0.0.1:1" },
        { interface: "public", region: "two", url: "http://127.0.0.1:2" },
        { interface: "public", region: "one", url: `${this.url}${path}` },
      ],
    });
    return {
      status: 201,
      headers: { "X-Subject-Token": `token-${++this.tokens}` },
      body: {
        token: {
          expires_at: new Date(Date.now() + this.tokenSeconds * 1000).toISOString(),
          project: { id: "p1" },
          user: { id: "u1" },
          catalog: [
            endpoint("identity", "/identity/v3"),
            endpoint("compute", "/compute/v2.1"),
            endpoint("network", "/network"),
            endpoint("image", "/image"),
            ...(this.hasVolumes ? [endpoint("volumev3", "/volume/v3")] : []),
            ...(this.hasLoadBalancers ? [endpoint("load-balancer", "/load-balancer")] : []),
          ],
        },
      },
    };
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

/** A successful answer. */
export const ok = (body: unknown): Answer => ({ status: 200, body });

/** A cloud that is only read: one flavor, one image, one external network, no server. */
export function readCloud({ path: ref }: Request): Answer | undefined {
  if (ref.startsWith("/compute/v2.1/flavors/detail"))
    return ok({ flavors: [{ id: "f1", name: "m1", vcpus: 1, ram: 1024, disk: 10 }] });
  if (ref.startsWith("/image/v2/images?"))
    return ok({ images: [{ id: "i1", name: "debian", status: "active", min_disk: 1, min_ram: 0 }] });
  if (ref.startsWith("/compute/v2.1/os-availability-zone")) return ok({ availabilityZoneInfo: [] });
  if (ref.startsWith("/network/v2.0/networks")) return ok({ networks: [{ id: "n1", name: "public" }] });
  if (/^\/compute\/v2\.1\/servers(\/detail)?\?/.test(ref)) return ok({ servers: [] });
  if (ref === "/compute/v2.1/limits") return ok({ limits: { absolute: {} } });
  return undefined;
}
