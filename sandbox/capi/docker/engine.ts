import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type Container, type DockerFaults, type Exec, runCommand } from "./commands";
import { execFrames, inputOf } from "./exec-stream";

interface DockerEngineOptions extends DockerFaults {
  /** Called when a container has joined its cluster. */
  readonly onJoin: (container: Container) => Promise<void>;
}

type Answer = readonly [status: number, body?: unknown];

/** What Cluster API's client asks for; it accepts 1.40 and newer. */
const API_VERSION = "1.51";

/**
 * Simulates the routes of Docker's Engine API that Cluster API's provider for Docker calls. A container is an entry in a
 * table that runs a few commands; one that runs `kubeadm join` joins the cluster.
 */
export class DockerEngine {
  private readonly containers = new Map<string, Container>();
  private readonly execs = new Map<string, Exec>();
  private readonly pulled = new Set<string>();
  private readonly server: Server = createServer((request, response) => void this.answer(request, response));
  private last = 1;

  constructor(private readonly options: DockerEngineOptions) {
    this.server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.attach(request, socket, head).catch(() => socket.destroy());
    });
  }

  async start(): Promise<this> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return this;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** The value of DOCKER_HOST. */
  get host(): string {
    return `tcp://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Names and images of the containers that run machines. */
  get machines(): { name: string; image: string }[] {
    return [...this.containers.values()]
      .filter(({ labels }) => labels["io.x-k8s.kind.role"] === "worker")
      .map(({ name, image }) => ({ name, image }));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = {
      "content-type": "application/json",
      "api-version": API_VERSION,
      ostype: "linux",
    };
    let answer: Answer;
    try {
      answer = await this.route(
        request.method ?? "",
        new URL(request.url ?? "/", "http://x"),
        await json(request),
      );
    } catch (error) {
      answer = [500, { message: (error as Error).message }];
    }
    const [status, body] = answer;
    const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : text);
  }

  private route(
    method: string,
    { pathname, searchParams: query }: URL,
    body: Body,
  ): Answer | Promise<Answer> {
    const [, first = "", second = "", third = ""] = pathname.replace(/^\/v1\.\d+(?=\/)/, "").split("/");
    const what = `${method} ${[first, second === "" ? "" : "*", third].filter(Boolean).join("/")}`;
    if (first === "_ping") return [200, "OK"];
    if (first === "info") return [200, { Driver: "overlay2", SecurityOptions: [] }];
    if (first === "images") return this.image(method, second, query);
    if (first === "containers" && second === "json") return [200, this.list(query)];
    if (first === "containers" && second === "create") return this.create(query.get("name") ?? "", body);
    if (what === "GET exec/*/json") {
      const exec = this.execs.get(second);
      return [200, { ID: second, Running: exec?.exitCode === undefined, ExitCode: exec?.exitCode ?? 0 }];
    }
    const container = first === "containers" ? this.find(decodeURIComponent(second)) : undefined;
    if (container === undefined) return [404, { message: `No such container: ${second}` }];
    switch (what) {
      case "POST containers/*/start":
        container.isRunning = true;
        return [204];
      case "GET containers/*/json":
        return [200, inspected(container)];
      case "GET containers/*/logs":
        return [200, "[  OK  ] Reached target Multi-User System.\r\n"];
      case "POST containers/*/kill":
        return [204];
      case "POST containers/*/exec": {
        const id = randomUUID();
        this.execs.set(id, { container, command: body.Cmd ?? [], readsInput: body.AttachStdin === true });
        return [201, { Id: id }];
      }
      case "DELETE containers/*":
        this.containers.delete(container.id);
        return [204];
      default:
        return [501, { message: `the simulated engine has no ${what}` }];
    }
  }

  private async image(method: string, route: string, query: URLSearchParams): Promise<Answer> {
    if (method === "GET" && route === "json") {
      const { reference = {} } = filtersOf(query);
      return [
        200,
        Object.keys(reference)
          .filter((image) => this.pulled.has(image))
          .map((Id) => ({ Id })),
      ];
    }
    const [name = "", tag = ""] = [query.get("fromImage") ?? "", query.get("tag") ?? ""];
    const image = `${name.replace(/^docker\.io\//, "")}:${tag}`;
    const refusal = await this.options.pull?.(image);
    if (refusal !== undefined) return [404, { message: refusal }];
    this.pulled.add(image);
    return [200, { status: `Pulled ${image}` }];
  }

  private list(query: URLSearchParams): object[] {
    const { label = {}, name = {} } = filtersOf(query);
    return [...this.containers.values()]
      .filter(({ labels }) =>
        Object.keys(label).every((each) => {
          const [key = "", value] = each.split("=");
          return value === undefined ? Object.hasOwn(labels, key) : labels[key] === value;
        }),
      )
      .filter((each) => Object.keys(name).every((pattern) => new RegExp(pattern).test(each.name)))
      .map(({ id, name: own, image, labels, isRunning }) => {
        const [State, Status] = isRunning ? ["running", "Up 1 second"] : ["created", "Created"];
        return { Id: id, Names: [`/${own}`], Image: image, Labels: labels, State, Status };
      });
  }

  private create(name: string, { Image = "", Labels = {} }: Body): Answer {
    if (this.find(name))
      return [409, { message: `Conflict. The container name "/${name}" is already in use` }];
    const address = `172.18.0.${++this.last}`;
    const id = randomUUID().replaceAll("-", "");
    const container = { id, name, image: Image, labels: Labels, address, isRunning: false, files: new Map() };
    this.containers.set(id, container);
    return [201, { Id: id, Warnings: [] }];
  }

  private find(name: string): Container | undefined {
    return [...this.containers.values()].find((each) => each.id === name || each.name === name);
  }

  /** Runs the command of an exec on its upgraded connection. */
  private async attach(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const id = /\/exec\/([^/]+)\/start/.exec(request.url ?? "")?.[1] ?? "";
    const exec = this.execs.get(id);
    if (exec === undefined) return void socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
    socket.on("error", () => undefined);
    const type = "Content-Type: application/vnd.docker.multiplexed-stream";
    socket.write(`HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n${type}\r\n\r\n`);
    const sent = Number(request.headers["content-length"] ?? 0);
    const input = exec.readsInput ? await inputOf(socket, head, sent) : "";
    const { exitCode, stdout = "", stderr = "" } = await runCommand(exec, input, this.options);
    exec.exitCode = exitCode;
    socket.end(execFrames({ stdout, stderr }));
  }
}

interface Body {
  Cmd?: string[];
  AttachStdin?: boolean;
  Image?: string;
  Labels?: Record<string, string>;
}

async function json(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? {} : (JSON.parse(text) as Body);
}

/** Returns the filters of a list: name → value → true. */
function filtersOf(query: URLSearchParams): Record<string, Record<string, boolean>> {
  return JSON.parse(query.get("filters") ?? "{}") as Record<string, Record<string, boolean>>;
}

function inspected({ id, name, image, labels, address, isRunning }: Container): object {
  return {
    Id: id,
    Name: `/${name}`,
    Config: { Image: image, Labels: labels },
    State: { Status: isRunning ? "running" : "created", Running: isRunning, ExitCode: 0 },
    NetworkSettings: { Networks: { kind: { IPAddress: address } }, Ports: {} },
  };
}
