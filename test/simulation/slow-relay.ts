import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Passes connections on to a port of this machine, with each answer late: so an answer can be lost on its way. */
export class SlowRelay {
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  /** @param milliseconds by which each answer is late */
  static async open(to: number, milliseconds: number): Promise<SlowRelay> {
    const server = createServer();
    const relay = new SlowRelay(server);
    server.on("connection", (inner) => {
      const outer = connect(to, "127.0.0.1");
      for (const socket of [inner, outer]) {
        relay.sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => {
          relay.sockets.delete(socket);
          inner.destroy();
          outer.destroy();
        });
      }
      inner.pipe(outer);
      outer.on("data", (data) => void setTimeout(() => inner.write(data), milliseconds));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return relay;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Ends all connections with their pending responses; accepts new ones. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, "close");
  }
}
