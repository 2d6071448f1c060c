import { createServer, type Server, type Socket } from "node:net";
import { relay } from "../support/relay";

/** Forwards a port of this machine to one of 127.0.0.1 while it is open; cutting it ends every connection. */
export class PortForwarder {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  constructor(
    private readonly from: number,
    private readonly to: number,
    private readonly address = "127.0.0.1",
  ) {}

  async open(): Promise<void> {
    if (this.server) return;
    const server = createServer((inner) => relay(inner, this.to, this.sockets));
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.from, this.address, resolve);
    });
  }

  cut(): void {
    this.server?.close();
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
  }
}
