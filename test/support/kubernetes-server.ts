import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { KubernetesObject } from "../../lib/kubernetes";
import type { Certificate, TestAuthority } from "./certificates";

interface Answer {
  status: number;
  reason?: string;
  message?: string;
  causes?: string[];
  causeReason?: string;
  /** the whole answer, where it is no Status */
  text?: string;
}

interface Logged {
  type: string;
  path: string;
  version: number;
  object: KubernetesObject;
}

/** The objects of a fake cluster, which several servers may serve. */
export class TestStore {
  readonly objects = new Map<string, KubernetesObject>();
  readonly log: Logged[] = [];
  readonly listeners = new Set<() => void>();
  version = 100;
  /** a watch from a version before this one is answered with 410 */
  oldest = 0;

  put(
    path: string,
    object: KubernetesObject,
    type = this.objects.has(path) ? "MODIFIED" : "ADDED",
  ): KubernetesObject {
    this.version += 1;
    const uid = object.metadata?.uid ?? `uid-${this.version}`;
    const stored = {
      ...object,
      metadata: { ...object.metadata, uid, resourceVersion: String(this.version) },
    };
    if (type === "DELETED") this.objects.delete(path);
    else this.objects.set(path, stored);
    this.log.push({ type, path, version: this.version, object: stored });
    for (const listener of this.listeners) listener();
    return stored;
  }

  remove(path: string): void {
    const object = this.objects.get(path);
    if (object) this.put(path, object, "DELETED");
  }
}

/** A small HTTPS server that implements as much of the Kubernetes API as the client's tests need. */
export class TestKubernetesServer {
  /** "METHOD path", in order */
  readonly calls: string[] = [];
  readonly userAgents = new Set<string>();
  /** answers a call instead of the store, when it gives an answer; "hang" leaves it without one */
  intercept: (call: string) => Answer | "hang" | "drop" | undefined = () => undefined;
  private readonly server;
  private readonly sockets = new Set<Socket>();

  constructor(
    certificate: Certificate,
    readonly store = new TestStore(),
  ) {
    const { key, certificate: cert } = certificate;
    this.server = createServer({ key, cert }, (request, response) => void this.serve(request, response));
    this.server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "https://localhost");
    const call = `${request.method} ${url.pathname}`;
    this.calls.push(url.searchParams.has("watch") ? call.replace("GET", "WATCH") : call);
    this.userAgents.add(request.headers["user-agent"] ?? "");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = this.intercept(this.calls[this.calls.length - 1] ?? "");
    if (answer === "hang") return;
    if (answer === "drop") return void request.socket.destroy();
    if (answer) return sendStatus(response, answer);
    if (url.pathname === "/readyz") return void response.end("ok");
    if (url.searchParams.has("watch")) return this.watch(url, response);
    const text = Buffer.concat(chunks).toString();
    this.answer(request.method ?? "", url, text ? (JSON.parse(text) as KubernetesObject) : {}, response);
  }

  private answer(method: string, url: URL, body: KubernetesObject, response: ServerResponse): void {
    const path = url.pathname;
    const existing = this.store.objects.get(path);
    const send = (object: unknown, status = 200) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(object));
    if (method === "POST" && path.endsWith("/eviction")) {
      this.store.remove(path.replace(/\/eviction$/, ""));
      return void send({ kind: "Status", status: "Success" }, 201);
    }
    if (method === "POST") {
      const created = `${path}/${body.metadata?.name}`;
      if (this.store.objects.has(created))
        return sendStatus(response, { status: 409, reason: "AlreadyExists" });
      return void send(this.store.put(created, body), 201);
    }
    if (method === "GET" && !existing && /\/[a-z]+s$/.test(path)) {
      const within = [...this.store.objects].filter(([key, object]) => belongs(key, url, object));
      const metadata = { resourceVersion: String(this.store.version) };
      return void send({ metadata, items: within.map(([, object]) => object) });
    }
    if (method === "PATCH") {
      const wanted = body.metadata?.resourceVersion;
      if (wanted !== undefined && wanted !== existing?.metadata?.resourceVersion) {
        return sendStatus(response, {
          status: 409,
          reason: "Conflict",
          message: "the object has been modified",
        });
      }
      if (existing) return void send(this.store.put(path, merge(existing, body) as KubernetesObject));
      return void send(this.store.put(path, body), 201);
    }
    if (!existing)
      return sendStatus(response, { status: 404, reason: "NotFound", message: `${path} not found` });
    if (method === "DELETE") this.store.remove(path);
    send(existing);
  }

  private watch(url: URL, response: ServerResponse): void {
    let version = Number(url.searchParams.get("resourceVersion"));
    if (version < this.store.oldest) {
      response.writeHead(200);
      return void response.end(
        `${JSON.stringify({ type: "ERROR", object: { code: 410, message: "too old" } })}\n`,
      );
    }
    response.writeHead(200);
    response.flushHeaders();
    const flush = () => {
      for (const { type, path, object, version: at } of this.store.log) {
        if (at <= version || !belongs(path, url, object)) continue;
        version = at;
        response.write(`${JSON.stringify({ type, object })}\n`);
      }
    };
    flush();
    this.store.listeners.add(flush);
    response.on("close", () => this.store.listeners.delete(flush));
  }
}

/** A kubeconfig with one context a server. */
export function kubeconfigOf(authority: TestAuthority, servers: { port: number }[]): string {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const clusters = servers.map(({ port }, index) => ({
    name: `c${index}`,
    cluster: {
      server: `https://127.0.0.1:${port}`,
      "certificate-authority-data": base64(authority.own.certificate),
    },
  }));
  const contexts = servers.map((_, index) => ({
    name: `c${index}`,
    context: { cluster: `c${index}`, user: "u" },
  }));
  const users = [{ name: "u", user: { token: "test-token" } }];
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters,
    contexts,
    users,
    "current-context": "c0",
  });
}

function belongs(path: string, url: URL, object: KubernetesObject): boolean {
  const selected = (field: string) =>
    new RegExp(`${field}=([^,]+)`).exec(url.searchParams.get("fieldSelector") ?? "")?.[1];
  const name = selected("metadata\\.name");
  if (name && path.split("/").at(-1) !== name) return false;
  const node = selected("spec\\.nodeName");
  if (node && (object.spec as { nodeName?: string } | undefined)?.nodeName !== node) return false;
  const kind = url.pathname.split("/").pop();
  const isAllNamespaces = !url.pathname.includes("/namespaces/");
  return isAllNamespaces ? path.split("/").at(-2) === kind : path.startsWith(`${url.pathname}/`);
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> = { ...(target as object) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value);
  }
  return merged;
}

function sendStatus(response: ServerResponse, answer: Answer): void {
  const { status, reason, message, causes = [], causeReason = "DisruptionBudget", text } = answer;
  if (text !== undefined) return void response.writeHead(status).end(text);
  const details = { causes: causes.map((words) => ({ reason: causeReason, message: words })) };
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ kind: "Status", code: status, reason, message: message ?? reason, details }));
}
