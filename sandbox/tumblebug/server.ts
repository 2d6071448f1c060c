/**
 * Stands in for CB-Tumblebug, CB-Spider behind it and the clouds behind that: the part of Tumblebug's REST API that
 * clusters need, in the words and with the status codes of release 0.7.0 ("mcis") or 0.13 ("infra").
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { adminRoutes, type PassedRequest } from "./admin-routes";
import { Balancers } from "./balancers";
import { BAD_NAME, cloudRoutes, NAME } from "./cloud-routes";
import { PretendedClouds } from "./clouds";
import { eraWire } from "./era-wire";
import { Faults, type TumblebugEffect } from "./faults";
import { infrastructureRoutes } from "./infrastructure-routes";
import { Lifecycle, type Delays } from "./lifecycle";
import type { Machines } from "./machines";
import { Allowance } from "./allowance";
import { resourceRoutes } from "./resource-routes";
import { findRoute, type Answer, type Route } from "./router";
import { ruleRoutes } from "./rule-routes";
import { State, type StoredConnection } from "./state";
import { todayWire } from "./today-wire";
import { Refusal, type Body, type Wire } from "./wire";

export interface ServerSettings {
  readonly generation: "mcis" | "infra";
  /** where its state is kept */
  readonly folder: string;
  readonly user: string;
  readonly password: string;
  readonly connections: readonly StoredConnection[];
  readonly machines: Machines;
  /** default: none */
  readonly delays?: Partial<Delays>;
  /** whether requests beyond the real server's limits get 429; default true */
  readonly limits?: boolean;
}

const BASE = "/tumblebug";
const KEPT_REQUESTS = 5000;

/** One stand-in server. */
export class TumblebugServer {
  readonly faults = new Faults();
  readonly state: State;
  /** what clients asked since the start or the last `forgetRequests`, the newest 5,000 */
  readonly passed: PassedRequest[] = [];
  private readonly wire: Wire;
  private readonly lifecycle: Lifecycle;
  private readonly balancers: Balancers;
  private readonly routes: Route[];
  private readonly http: Server;
  private readonly overall: Allowance;
  private readonly reads = new Allowance(2);
  private readonly ended = new AbortController();

  constructor(private readonly settings: ServerSettings) {
    this.wire = settings.generation === "mcis" ? eraWire : todayWire;
    this.overall = new Allowance(this.wire.perSecond);
    this.state = new State(settings.folder);
    this.lifecycle = new Lifecycle(this.state, settings.machines, this.faults, {
      creation: settings.delays?.creation ?? 0,
      termination: settings.delays?.termination ?? 0,
    });
    this.balancers = new Balancers(this.state);
    const clouds = new PretendedClouds(settings.connections);
    this.routes = [
      ...cloudRoutes(this.state, clouds, this.wire),
      ...resourceRoutes(this.state, clouds, this.wire),
      ...ruleRoutes(this.state, this.wire),
      ...infrastructureRoutes({
        state: this.state,
        clouds,
        wire: this.wire,
        lifecycle: this.lifecycle,
        balancers: this.balancers,
        balancerAddress: () => settings.machines.balancerAddress(),
      }),
      ...adminRoutes(this, this.lifecycle),
    ];
    this.http = createServer((incoming, outgoing) => void this.handle(incoming, outgoing));
  }

  /**
   * Goes on with what an earlier server began in the same folder, and listens on 127.0.0.1.
   * @param port 0 for any
   * @returns the address for clients
   */
  async start(port = 0): Promise<string> {
    this.lifecycle.resume();
    await new Promise<void>((resolve, reject) => {
      this.http.once("error", reject);
      this.http.listen(port, "127.0.0.1", resolve);
    });
    await this.balancers.resume();
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}${BASE}`;
  }

  /** Ends at once, as a killed process would; what was begun is on record. */
  async close(): Promise<void> {
    this.ended.abort();
    this.http.closeAllConnections();
    await new Promise<void>((resolve) => this.http.close(() => resolve()));
    await this.lifecycle.close();
    await this.balancers.closeAll();
  }

  private async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const method = incoming.method ?? "GET";
    const path = (incoming.url ?? "/").replace(new RegExp(`^${BASE}`), "");
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const isAdmin = path.startsWith("/sandbox");
      const effect = isAdmin ? undefined : this.faults.meet(method, path);
      if (effect?.kind === "silence") return;
      if (effect?.kind === "refused") return void outgoing.destroy();
      if (effect?.kind === "delay")
        await pause(effect.milliseconds, undefined, { signal: this.ended.signal });
      const answer = await this.answer(method, path, incoming, Buffer.concat(chunks).toString(), effect);
      if (!isAdmin) this.note({ method, path, status: answer.status });
      if (effect?.kind === "lost-reply") return void outgoing.destroy();
      const headers = effect?.kind === "status" ? effect.headers : {};
      outgoing.writeHead(answer.status, { "content-type": "application/json; charset=UTF-8", ...headers });
      outgoing.end(typeof answer.body === "string" ? answer.body : `${JSON.stringify(answer.body)}\n`);
    } catch (error) {
      if (!this.ended.signal.aborted) console.error(error);
      outgoing.destroy();
    }
  }

  private async answer(
    method: string,
    path: string,
    incoming: IncomingMessage,
    text: string,
    effect: TumblebugEffect | undefined,
  ): Promise<Answer> {
    try {
      this.authenticate(path, incoming);
      if (effect?.kind === "status")
        throw new Refusal(
          effect.status,
          effect.text ?? effect.message ?? "a fault was asked for",
          effect.text !== undefined,
        );
      this.limit(method, path);
      const url = new URL(path, "http://localhost");
      const found = findRoute(this.routes, method, url.pathname);
      if (found === undefined) throw new Refusal(404, "Not Found");
      this.requireNamespace(found.params["ns"]);
      const asked = { params: found.params, query: url.searchParams, body: parse(text) };
      if (effect?.kind === "accepted") {
        void pause(effect.milliseconds).then(() => found.route.handle(asked));
        return { status: 202, body: { message: "the deletion is already in progress" } };
      }
      return await found.route.handle(asked);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.status, body: error.isBare ? error.words : { message: error.words } };
    }
  }

  private authenticate(path: string, { headers }: IncomingMessage): void {
    if (this.wire.generation === "infra" && /^\/(livez|readyz)/.test(path)) return;
    const { user, password } = this.settings;
    const wanted = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
    if (headers.authorization !== wanted) throw new Refusal(401, "Unauthorized");
  }

  private limit(method: string, path: string): void {
    if (this.settings.limits === false || path.startsWith("/sandbox")) return;
    const isRead =
      method === "GET" && new RegExp(`^/ns/[^/]+/${this.wire.infrastructure}(/[^/]+)?(\\?|$)`).test(path);
    if (!this.overall.take() || (isRead && !this.reads.take())) throw new Refusal(429, "rate limit exceeded");
  }

  private requireNamespace(namespace: string | undefined): void {
    if (namespace === undefined) return;
    if (!NAME.test(namespace)) throw new Refusal(404, BAD_NAME);
    if (this.state.namespace(namespace) === undefined) throw new Refusal(404, "Not valid namespace");
  }

  private note(request: PassedRequest): void {
    this.passed.push(request);
    if (this.passed.length > KEPT_REQUESTS) this.passed.shift();
  }
}

function parse(text: string): Body {
  if (text === "") return {};
  try {
    return JSON.parse(text) as Body;
  } catch {
    throw new Refusal(400, "Syntax error in the request's body");
  }
}
