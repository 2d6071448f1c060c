/** One attempt to open an SSH connection, with one deadline for the whole attempt and a host key check. */
import type { Algorithms, AuthenticationType, Client, ConnectConfig, ServerHostKeyAlgorithm } from "ssh2";
import type { Readable } from "node:stream";
import { fingerprint, parseHostKey } from "./host-key.js";

/** Where to connect and as whom; `port` and `user` are filled in by check. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string;
  readonly privateKey?: string;
  readonly privateKeyPassword?: string;
  readonly agentSocketPath?: string;
  readonly hostKey?: string;
  /** Failed attempts after which to give up; a negative number means never (in 1.2.1, 0 is one attempt). */
  readonly dialErrorLimit: number;
  /** Seconds for one attempt; 0 means no limit. */
  readonly perDialTimeout: number;
}

/** A prepared endpoint: keys are parsed and checked once, so that bad ones fail before the first attempt. */
export interface Dialable {
  readonly endpoint: Endpoint;
  readonly config: ConnectConfig;
}

/**
 * Reads the keys of an endpoint.
 * @throws Error for a private or host key that cannot be read
 */
export async function prepare(endpoint: Endpoint): Promise<Dialable> {
  const { default: ssh2 } = await import("ssh2");
  if (endpoint.privateKey !== undefined) {
    const key = ssh2.utils.parseKey(endpoint.privateKey, endpoint.privateKeyPassword);
    if (key instanceof Error)
      throw new Error(`connection to ${endpoint.host}: privateKey cannot be read: ${key.message}`);
  }
  const agent = endpoint.agentSocketPath ?? process.env["SSH_AUTH_SOCK"];
  const config: ConnectConfig = {
    host: endpoint.host,
    port: endpoint.port,
    username: endpoint.user,
    readyTimeout: 0,
    tryKeyboard: endpoint.password !== undefined,
    // A dead peer is detected after two minutes; 1.2.1 would wait forever.
    keepaliveInterval: 15_000,
    keepaliveCountMax: 8,
    authHandler: methods(endpoint, agent),
  };
  if (endpoint.privateKey !== undefined) config.privateKey = endpoint.privateKey;
  if (endpoint.privateKeyPassword !== undefined) config.passphrase = endpoint.privateKeyPassword;
  if (endpoint.password !== undefined) config.password = endpoint.password;
  if (agent !== undefined && agent !== "") config.agent = agent;
  return { endpoint, config };
}

function methods(endpoint: Endpoint, agent: string | undefined): AuthenticationType[] {
  const order: AuthenticationType[] = ["none"];
  if (endpoint.privateKey !== undefined) order.push("publickey");
  if (endpoint.password !== undefined) order.push("password", "keyboard-interactive");
  if (endpoint.privateKey === undefined && agent !== undefined && agent !== "") order.push("agent");
  return order;
}

/**
 * Opens one connection.
 * @param via a stream through a jump host; absent: a TCP connection of its own
 * @throws Error that names the endpoint: refused, timed out, host key mismatch, login rejected
 */
export async function dialOnce(target: Dialable, via?: Readable): Promise<Client> {
  const { default: ssh2 } = await import("ssh2");
  const { endpoint } = target;
  const where = `${endpoint.user}@${endpoint.host}:${String(endpoint.port)}`;
  const config: ConnectConfig = { ...target.config, ...(via === undefined ? {} : { sock: via }) };
  let mismatch: string | undefined;
  if (endpoint.hostKey !== undefined) {
    const pinned = parseHostKey(endpoint.hostKey);
    const algorithms: Algorithms = { serverHostKey: pinned.algorithms as ServerHostKeyAlgorithm[] };
    config.algorithms = algorithms;
    config.hostVerifier = (key: Buffer) => {
      if (key.equals(pinned.blob)) return true;
      mismatch = `host key mismatch: expected ${fingerprint(pinned.blob)}, the server shows ${fingerprint(key)}`;
      return false;
    };
  }
  const client = new ssh2.Client();
  return new Promise<Client>((resolve, reject) => {
    const fail = (reason: string): void => {
      clearTimeout(timer);
      client.on("error", () => undefined).destroy();
      reject(new Error(`SSH to ${where}: ${reason}`));
    };
    const seconds = endpoint.perDialTimeout;
    const late = (): void => fail(`no connection after ${String(seconds)} s (perDialTimeout)`);
    const timer = seconds > 0 ? setTimeout(late, seconds * 1000) : undefined;
    client.once("error", (error) => fail(mismatch ?? explain(error, endpoint)));
    client.once("close", () => fail("the server closed the connection"));
    client.on("keyboard-interactive", (_name, _text, _language, prompts, answer) =>
      answer(prompts.map(() => endpoint.password ?? "")),
    );
    // The handshake exchanges small packets; without this each round trip takes 40 ms or more.
    client.once("connect", () => client.setNoDelay(true));
    client.once("ready", () => {
      clearTimeout(timer);
      client.removeAllListeners("error").removeAllListeners("close");
      resolve(client);
    });
    try {
      client.connect(config);
    } catch (error) {
      fail((error as Error).message);
    }
  });
}

function explain(error: Error, endpoint: Endpoint): string {
  if (endpoint.hostKey !== undefined && /no matching host key/i.test(error.message)) {
    return "host key mismatch: the server has no key of the pinned key's type";
  }
  return error.message;
}
