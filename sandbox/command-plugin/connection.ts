/** The SSH connection of a resource: retried up to dialErrorLimit, through a jump host if configured. */
import type { Client } from "ssh2";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { dialOnce, prepare, type Dialable, type Endpoint } from "./dial.js";
import type { ResourceLog } from "./engine-log.js";
import { parseHostKey } from "./host-key.js";

export interface Connection extends Endpoint {
  readonly proxy?: Endpoint;
}

/** Waits between attempts, in milliseconds: 1.2.1 begins with 100, grows by half, and stays at 5 s. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;

/**
 * Runs `work` on a connection and closes it, and the jump host's, afterwards.
 * @param signal ends the wait for a connection (not a command that runs already)
 * @throws Error with the number of attempts and the last attempt's failure; or what `work` throws
 */
export async function withConnection<Result>(
  connection: Connection,
  log: ResourceLog,
  signal: AbortSignal,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const opened: Client[] = [];
  const keep = (client: Client): Client => {
    // Errors after login end the command through its channel; without a listener they would end the plugin.
    client.on("error", (error) => log.status(`SSH to ${connection.host}: ${error.message}`));
    opened.unshift(client);
    return client;
  };
  try {
    return await work(await open(connection, log, signal, keep));
  } finally {
    for (const client of opened) client.end();
  }
}

async function open(
  connection: Connection,
  log: ResourceLog,
  signal: AbortSignal,
  keep: (client: Client) => Client,
): Promise<Client> {
  const target = await prepareChecked(connection);
  if (connection.proxy === undefined) {
    return keep(await retry("SSH", connection.dialErrorLimit, log, signal, () => dialOnce(target)));
  }
  const proxy = connection.proxy;
  const jump = await inProxy(async () => {
    const jumpTarget = await prepareChecked(proxy);
    return keep(
      await retry("SSH to the proxy", proxy.dialErrorLimit, log, signal, () => dialOnce(jumpTarget)),
    );
  });
  return inProxy(async () =>
    keep(
      await retry("SSH through the proxy", connection.dialErrorLimit, log, signal, async () =>
        dialOnce(target, await forward(jump, connection)),
      ),
    ),
  );
}

async function prepareChecked(endpoint: Endpoint): Promise<Dialable> {
  if (endpoint.hostKey !== undefined) parseHostKey(endpoint.hostKey);
  return prepare(endpoint);
}

async function inProxy<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`proxy: ${(error as Error).message}`, { cause: error });
  }
}

function forward(jump: Client, endpoint: Endpoint): Promise<Duplex> {
  const where = `${endpoint.host}:${String(endpoint.port)}`;
  const seconds = endpoint.perDialTimeout;
  return new Promise((resolve, reject) => {
    const late = (): void =>
      reject(new Error(`no way to ${where} after ${String(seconds)} s (perDialTimeout)`));
    const timer = seconds > 0 ? setTimeout(late, seconds * 1000) : undefined;
    const answer = (error: Error | undefined, stream: Duplex): void => {
      clearTimeout(timer);
      if (error === undefined) resolve(stream);
      else reject(new Error(`the jump host cannot reach ${where}: ${error.message}`));
    };
    try {
      jump.forwardOut("127.0.0.1", 0, endpoint.host, endpoint.port, answer);
    } catch (error) {
      answer(error as Error, undefined as never);
    }
  });
}

async function retry<Result>(
  what: string,
  limit: number,
  log: ResourceLog,
  signal: AbortSignal,
  attempt: () => Promise<Result>,
): Promise<Result> {
  for (let failed = 0, wait = FIRST_PAUSE; ; wait = Math.min(wait * 1.5, LONGEST_PAUSE)) {
    try {
      return await attempt();
    } catch (error) {
      const reason = (error as Error).message;
      if (limit >= 0 && failed >= limit) {
        throw new Error(`${what}: gave up after ${String(failed)} failed attempts: ${reason}`, {
          cause: error,
        });
      }
      failed += 1;
      log.status(
        `${what}: attempt ${String(failed)} of ${limit < 0 ? "any number" : String(limit)} failed: ${reason}`,
      );
    }
    if (signal.aborted) throw new Error(`${what}: canceled`);
    await pause(wait, undefined, { signal }).catch(() => {
      throw new Error(`${what}: canceled`);
    });
  }
}
