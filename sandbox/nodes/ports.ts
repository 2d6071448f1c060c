import { createServer, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { candidatePorts } from "./addresses";

/**
 * Returns ports of 127.0.0.1 on which nothing listens now.
 * @param seed hexadecimal digits that determine where the search starts
 * @param taken ports that stopped nodes will use again; the found ones are added
 */
export async function findFreePorts(seed: string, count: number, taken: Set<number>): Promise<number[]> {
  const found: number[] = [];
  for (const port of candidatePorts(seed, taken)) {
    if (found.length === count) return found;
    if (!(await isFree(port))) continue;
    taken.add(port);
    found.push(port);
  }
  throw new Error("no free ports between 20000 and 29999 on 127.0.0.1; stop the processes that listen there");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/**
 * Waits for sshd's banner.
 * @throws Error at the deadline, with the last observation
 */
export async function awaitSshd(name: string, port: number, seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await greeting(port, Math.min(2000, Math.max(1, deadline - Date.now())));
    if (seen.startsWith("SSH-2.0-")) return;
    if (Date.now() >= deadline) {
      throw new Error(
        `${name}: sshd did not answer on 127.0.0.1:${port} within ${seconds} s; last seen: ${seen}`,
      );
    }
    await pause(100);
  }
}

function greeting(port: number, milliseconds: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = new Socket();
    const finish = (seen: string) => {
      socket.destroy();
      resolve(seen);
    };
    socket.setTimeout(milliseconds, () => finish("no greeting"));
    socket.once("error", (error) => finish(error.message));
    socket.once("close", () => finish("the connection was closed"));
    socket.once("data", (data: Buffer) => finish(data.toString("latin1")));
    socket.connect(port, "127.0.0.1");
  });
}
