import { connect, createServer, type Server, type Socket } from "node:net";

/** Forwards TCP connections to several targets by round robin; skips targets that do not answer. */
export class Forwarder {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private next = 0;

  /** @param targets called for every connection */
  constructor(private readonly targets: () => readonly { host: string; port: number }[]) {
    this.server = createServer((client) => this.accept(client));
  }

  /** @throws Error when it can't listen at the address */
  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, host, () => {
        this.server.off("error", reject);
        resolve();
      });
    });
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private accept(client: Socket): void {
    this.keep(client);
    const targets = this.targets();
    this.next += 1;
    const order = targets.map((_, index) => targets[(index + this.next) % targets.length]);
    this.pass(
      client,
      order.flatMap((target) => target ?? []),
    );
  }

  private pass(client: Socket, [target, ...others]: { host: string; port: number }[]): void {
    if (target === undefined) return void client.destroy();
    const onward = connect({ ...target, timeout: 2000 });
    this.keep(onward);
    const tryNext = () => {
      onward.removeAllListeners();
      onward.on("error", () => undefined);
      onward.destroy();
      this.pass(client, others);
    };
    onward.once("error", tryNext);
    onward.once("timeout", tryNext);
    onward.once("connect", () => {
      onward.removeListener("error", tryNext);
      onward.removeListener("timeout", tryNext);
      onward.setTimeout(0);
      onward.on("error", () => client.destroy());
      client.on("error", () => onward.destroy());
      client.on("close", () => onward.destroy());
      onward.on("close", () => client.destroy());
      client.pipe(onward).pipe(client);
    });
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => this.sockets.delete(socket));
  }
}
