import { connect, createServer, type Server, type Socket } from "node:net";

/** Forwards a port of 127.0.0.1 to another while it is open; cutting it ends every connection. */
export class PortForwarder {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  constructor(
    private readonly from: number,
    private readonly to: number,
  ) {}

  async open(): Promise<void> {
    if (this.server) return;
    const server = createServer((inner) => {
      const outer = connect(this.to, "127.0.0.1");
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
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.from, "127.0.0.1", resolve);
    });
  }

  cut(): void {
    this.server?.close();
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
  }
}
