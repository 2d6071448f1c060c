import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request as sendRequest, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { parse } from "yaml";
import type { BareApiServer } from "./bare-api-server";

/** A request as it is passed on. */
export interface PassedRequest {
  readonly method: string;
  readonly url: URL;
}

/** The API's own form of a refusal. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/**
 * Passes requests on to a real API server, as its administrator, and answers on request what a server says that is
 * hard to come by: that a version is forgotten (410), or that another writer was faster (409).
 */
export class ApiRelay {
  /** Decides what is refused; nothing by default. */
  refuse: (request: PassedRequest) => Refusal | undefined = () => undefined;
  /** Decides which requests are carried out, and their connection closed instead of an answer; none by default. */
  lose: (request: PassedRequest) => boolean = () => false;
  /** how many requests it has refused */
  refused = 0;
  private readonly watches = new Set<ServerResponse>();
  private oldestVersion = 0;
  private watchesRefused = 0;

  private constructor(
    private readonly api: BareApiServer,
    private readonly server: Server,
    private readonly agent: Agent,
  ) {}

  static async open(api: BareApiServer): Promise<ApiRelay> {
    const { key, certificate } = api.server.servingCertificate("relay");
    const server = createServer({ key, cert: certificate });
    const { users } = parse(api.kubeconfig()) as { users: { user: Record<string, string> }[] };
    const bytes = (field: string) => Buffer.from(users[0]?.user[field] ?? "", "base64");
    const agent = new Agent({
      keepAlive: true,
      ca: api.server.authorityCertificate,
      cert: bytes("client-certificate-data"),
      key: bytes("client-key-data"),
    });
    const relay = new ApiRelay(api, server, agent);
    server.on("request", (request, response) => relay.take(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return relay;
  }

  /** How many watches are open. */
  get watching(): number {
    return this.watches.size;
  }

  /** Of the administrator, by way of the relay. */
  kubeconfig(): string {
    return this.api.kubeconfig((this.server.address() as AddressInfo).port);
  }

  /** Ends all watches, and forgets all versions before this one: watchers have to list again. */
  forgetBefore(version: string): void {
    this.oldestVersion = Number(version);
    for (const watch of this.watches) watch.destroy();
  }

  async close(): Promise<void> {
    this.agent.destroy();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", "https://relay");
    const isWatch = url.searchParams.get("watch") === "true";
    if (isWatch && Number(url.searchParams.get("resourceVersion")) < this.oldestVersion)
      return this.forgotten(response);
    const passing = { method: request.method ?? "", url };
    const refusal = this.refuse(passing);
    const isLost = this.lose(passing);
    if (refusal) return this.answer(response, refusal.status, refusal);
    if (isWatch) {
      this.watches.add(response);
      response.on("close", () => this.watches.delete(response));
    }
    const { host: _, ...headers } = request.headers;
    const { method, url: path } = request;
    const address = { host: "127.0.0.1", port: this.api.port, agent: this.agent };
    const passed = sendRequest({ ...address, method, path, headers }, (answer) => {
      if (isLost) return void response.destroy();
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
  }

  /** A server reports it in either way: as its response, or as the first event. */
  private forgotten(response: ServerResponse): void {
    const refusal = { status: 410, reason: "Expired", message: "too old resource version" };
    this.watchesRefused += 1;
    if (this.watchesRefused % 2 === 1) return this.answer(response, 410, refusal);
    this.refused += 1;
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(`${JSON.stringify({ type: "ERROR", object: statusOf(refusal) })}\n`);
  }

  private answer(response: ServerResponse, status: number, refusal: Refusal): void {
    this.refused += 1;
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(statusOf(refusal)));
  }
}

function statusOf({ status, reason, message, retryAfterSeconds }: Refusal): object {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  return { kind: "Status", apiVersion: "v1", status: "Failure", code: status, reason, message, ...details };
}
