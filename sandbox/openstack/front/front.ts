import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { SERVICES, type CloudPorts, type ServiceName } from "../settings";
import { isOwnCaller } from "./callers";
import { errorBody, findFault, type Fault, type HeldFault } from "./fault";

/** A forwarded request, as tests count them. */
export interface PassedRequest {
  readonly service: ServiceName;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

const KEPT_REQUESTS = 5000;

/** A proxy between clients and the services: it forwards requests unless a fault was requested. */
export class Front {
  private faults: HeldFault[] = [];
  private nextId = 1;
  readonly passed: PassedRequest[] = [];
  private readonly servers: Server[] = [];
  // the service may close an idle connection at the moment in which it is reused
  private readonly agent = new Agent({ keepAlive: false });

  constructor(
    private readonly ports: CloudPorts,
    private readonly controlPassword: string,
    private readonly address = "127.0.0.1",
  ) {}

  /** Listens on all public ports of the address, for this machine and its nodes, and on the control port of 127.0.0.1. */
  async listen(): Promise<void> {
    for (const service of SERVICES) {
      const server = createServer((incoming, outgoing) => void this.handle(service, incoming, outgoing));
      await this.open(server, this.ports.public[service], this.address);
    }
    await this.open(
      createServer((incoming, outgoing) => void this.control(incoming, outgoing)),
      this.ports.control,
      "127.0.0.1",
    );
  }

  /** Stops listening. */
  close(): void {
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  private open(server: Server, port: number, address: string): Promise<void> {
    this.servers.push(server);
    server.on("connection", (socket) => {
      if (!isOwnCaller(socket.remoteAddress)) socket.destroy();
    });
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, address, resolve);
    });
  }

  private async handle(
    service: ServiceName,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    const [method, path] = [incoming.method ?? "GET", incoming.url ?? "/"];
    const fault = findFault(this.faults, { service, method, path });
    if (fault !== undefined) {
      this.faults = this.faults.map((each) =>
        each.id === fault.id ? { ...each, happened: each.happened + 1 } : each,
      );
    }
    const effect = fault?.effect;
    if (effect?.kind === "refused") return void outgoing.destroy();
    if (effect?.kind === "status") {
      incoming.resume();
      this.note({ service, method, path, status: effect.status });
      outgoing.writeHead(effect.status, { "content-type": "application/json" });
      outgoing.end(errorBody(effect.status, effect.message ?? "a fault was asked for"));
      return;
    }
    if (effect?.kind === "delay") await pause(effect.milliseconds);
    this.forward(service, incoming, outgoing, effect?.kind === "lost-reply");
  }

  private forward(
    service: ServiceName,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    isReplyLost: boolean,
  ): void {
    const { method = "GET", url: path = "/", headers } = incoming;
    const onward = request(
      {
        host: "127.0.0.1",
        port: this.ports.internal[service],
        method,
        path,
        headers: { ...headers, connection: "close" },
        agent: this.agent,
      },
      (answer) => {
        this.note({ service, method, path, status: answer.statusCode ?? 0 });
        if (isReplyLost) {
          answer.resume();
          answer.once("end", () => outgoing.destroy());
          return;
        }
        const { connection: _, "transfer-encoding": __, ...kept } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, kept);
        answer.pipe(outgoing);
      },
    );
    onward.once("error", (error) => {
      if (outgoing.headersSent) return void outgoing.destroy();
      outgoing.writeHead(503, { "content-type": "application/json" });
      outgoing.end(errorBody(503, `${service} does not answer: ${error.message}`));
    });
    outgoing.once("close", () => onward.destroy());
    incoming.pipe(onward);
  }

  private note(passed: PassedRequest): void {
    this.passed.push(passed);
    if (this.passed.length > KEPT_REQUESTS) this.passed.shift();
  }

  private async control(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const answer = (status: number, body: unknown) => {
      outgoing.writeHead(status, { "content-type": "application/json" });
      outgoing.end(JSON.stringify(body));
    };
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (incoming.headers.authorization !== `Bearer ${this.controlPassword}`) return answer(401, {});
    switch (`${incoming.method} ${incoming.url}`) {
      case "GET /":
        return answer(200, { faults: this.faults, requests: this.passed });
      case "POST /faults": {
        const fault = JSON.parse(Buffer.concat(chunks).toString()) as Fault;
        const held = { ...fault, id: this.nextId++, happened: 0 };
        this.faults.push(held);
        return answer(200, held);
      }
      case "DELETE /faults":
        this.faults = [];
        return answer(200, {});
      case "DELETE /requests":
        this.passed.length = 0;
        return answer(200, {});
      default:
        return answer(404, {});
    }
  }
}
