import { connect, type Socket } from "node:net";

/** Passes a connection on to a port of this machine; the sockets of both sides are in the set as long as they are open. */
export function relay(inner: Socket, port: number, sockets: Set<Socket>): void {
  const outer = connect(port, "127.0.0.1");
  for (const socket of [inner, outer]) {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      inner.destroy();
      outer.destroy();
    });
  }
  inner.pipe(outer).pipe(inner);
}
