import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that the kernel gives to outgoing connections and to servers without a port of their own. */
const FIRST = 12_000;
const COUNT = 18_000;
/** Files run side by side: each process begins elsewhere, and takes no port twice. */
let taken = (process.pid * 97) % COUNT;

/**
 * Returns ports of 127.0.0.1 that nothing else takes, also while nothing listens there: the API server of a simulated
 * control plane ends and starts again at its port.
 *
 * @throws Error when there are not enough
 */
export async function reservePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tried = 0; tried < COUNT && ports.length < count; tried++) {
    const port = FIRST + (taken++ % COUNT);
    if (await isFree(port)) ports.push(port);
  }
  if (ports.length < count) throw new Error(`fewer than ${count} ports from ${FIRST} on are free`);
  return ports;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
