import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { relay } from "../support/relay";

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
      relay(inner, target, this.sockets);
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
