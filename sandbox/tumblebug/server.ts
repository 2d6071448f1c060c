/**
 * A simulated CB-Tumblebug, with CB-Spider and the clouds behind it: the part of Tumblebug's REST API that clusters
 * need, as release 0.7.0 ("mcis") and 0.13.0 ("infra") answer it in status, words, fields and duration.
 *
 * It reproduces servers that were recorded with CB-Spider's mock driver: test/fixtures/tumblebug/mcis-v0.7.0.jsonl and
 * infra-v0.13.0-21.jsonl. test/unit/sandbox/tumblebug/recordings.test.ts sends it each recorded request and compares
 * the answers; what it does not serve, or where its clouds differ from the mock driver's, is listed there. The
 * durations are those of durations.ts times `pace`, which is 0 by default.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { adminRoutes, type PassedRequest } from "./admin-routes";
import { balancerRoutes } from "./balancer-routes";
import { Balancers } from "./balancers";
import { BAD_NAME, cloudRoutes, NAME } from "./cloud-routes";
import { FakeClouds, type CloudContents } from "./clouds";
import { durationsAt, type Durations } from "./durations";
import { Faults, type TumblebugEffect } from "./faults";
import { infraWire } from "./infra-wire";
import { infrastructureRoutes } from "./infrastructure-routes";
import type { RoutesContext } from "./routes-context";
import { Lifecycle, type Wait } from "./lifecycle";
import { machineRoutes } from "./machine-routes";
import type { Machines } from "./machines";
import { mcisWire } from "./mcis-wire";
import { Allowance } from "./allowance";
import { resourceRoutes } from "./resource-routes";
import { findRoute, type Answer, type Route } from "./router";
import { ruleRoutes } from "./rule-routes";
import { State, type StoredConnection } from "./state";
import { whyNotMade } from "./why-not-made";
import { Refusal, type Body, type Wire } from "./wire";

export interface ServerSettings {
  readonly generation: "mcis" | "infra";
  /** the folder of its state */
  readonly folder: string;
  readonly user: string;
  readonly password: string;
  readonly connections: readonly StoredConnection[];
  readonly machines: Machines;
  /** How long calls block, as a fraction of the recorded durations: 1 for as long, default 0 for not at all. */
  readonly pace?: number;
  /** overrides of single durations */
  readonly durations?: Partial<Durations>;
  /** default: actually waits */
  readonly wait?: Wait;
  /** the content of its clouds; default: some machine types and images */
  readonly clouds?: CloudContents;
  /** whether requests beyond the real server's limits get 429; default true */
  readonly limits?: boolean;
}

const BASE = "/tumblebug";
const KEPT_REQUESTS = 5000;

/** One simulated server. */
export class TumblebugServer {
  readonly faults = new Faults();
  readonly state: State;
  /** the newest 5,000 requests of clients since the start or the last `forgetRequests` */
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
    this.wire = settings.generation === "mcis" ? mcisWire : infraWire;
    this.overall = new Allowance(this.wire.perSecond);
    this.state = new State(settings.folder);
    const durations = durationsAt(settings.generation, settings.pace ?? 0, settings.durations);
    const clouds = new FakeClouds(settings.connections, settings.clouds);
    const { state, wire } = this;
    this.lifecycle = new Lifecycle(
      ...([state, settings.machines, this.faults, durations, wire] as const),
      (namespace, machine) => whyNotMade(state, clouds, wire, namespace, machine),
      settings.wait,
    );
    this.balancers = new Balancers(state);
    const context: RoutesContext = {
      state,
      clouds,
      wire,
      faults: this.faults,
      durations,
      lifecycle: this.lifecycle,
      balancers: this.balancers,
      balancerAddress: () => settings.machines.balancerAddress(),
    };
    this.routes = [
      ...cloudRoutes(state, clouds, wire, this.faults),
      ...resourceRoutes(state, clouds, wire),
      ...ruleRoutes(state, clouds, wire),
      ...infrastructureRoutes(context),
      ...machineRoutes(context),
      ...balancerRoutes(context),
      ...adminRoutes(this, this.lifecycle),
    ];
    this.http = createServer((incoming, outgoing) => void this.handle(incoming, outgoing));
  }

  /**
   * Continues what an earlier server began in the same folder, and listens on 127.0.0.1.
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

  /** Ends at once, as a killed process would; unfinished work is recorded. */
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
