import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A TCP load balancer as sites have one in front of their control planes: passes on to one port of this machine. */
export class LoadBalancer {
  /** How many connections came. */
  connections = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    target: number,
  ) {
    server.on("connection", (inner: Socket) => {
      this.connections += 1;
      const outer = connect(target, "127.0.0.1");
      for (const socket of [inner, outer]) {
        this.sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => {
          this.sockets.delete(socket);
          inner.destroy();
          outer.destroy();
        });
      }
      inner.pipe(outer).pipe(inner);
    });
  }

  /**
   * @param address where it listens, on a free port
   * @param target the port of 127.0.0.1 that it passes on to
   */
  static async start(address: string, target: number): Promise<LoadBalancer> {
    const server = createServer();
    server.listen(0, address);
    await once(server, "listening");
    return new LoadBalancer(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
