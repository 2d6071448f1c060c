import type { AlgorithmList, Client, ClientChannel, ConnectConfig, ServerHostKeyAlgorithm } from "ssh2";
import { abortError } from "../abort";
import { Transient } from "../wait";
import { AuthenticationRefused, HostKeyMismatch, UnreadableKey } from "./errors";
import type { SshTarget, UnknownHost } from "./target";

/** A logged-in connection, with the function that closes all its parts. */
export interface Dialed {
  client: Client;
  close: () => void;
}

/** Decides on the host key that a machine presents: undefined accepts it, an error refuses it. */
type JudgeHostKey = (found: string) => Error | undefined;

// Three missed keepalives, ten seconds apart, detect a dead node within 30 to 40 seconds.
const KEEPALIVE_MILLISECONDS = 10_000;
const KEEPALIVE_MISSES = 3;

/** Returns a judge that accepts only the pinned key. */
export function pinned(target: SshTarget): JudgeHostKey {
  return (found) =>
    isSameHostKey(found, target.hostKey) ? undefined : new HostKeyMismatch(target, target.hostKey, found);
}

/**
 * Dials once and logs in, through the jump host if there is one.
 *
 * @throws HostKeyMismatch, AuthenticationRefused, UnreadableKey; Transient with the reason for everything that a retry
 *   may fix
 */
export async function dial(
  target: UnknownHost & { hostKey?: string },
  judge: JudgeHostKey,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<Dialed> {
  if (!target.jumpHost) return logIn(target, judge, milliseconds, signal);
  const jump = await logIn(target.jumpHost, pinned(target.jumpHost), milliseconds, signal);
  try {
    const tunnel = await openTunnel(jump.client, target);
    const inner = await logIn(target, judge, milliseconds, signal, tunnel);
    inner.client.on("close", jump.close);
    return { client: inner.client, close: () => (inner.close(), jump.close()) };
  } catch (error) {
    jump.close();
    throw error;
  }
}

function openTunnel(jump: Client, target: UnknownHost): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    const lost = () => reject(new Transient("the jump host closed the connection"));
    jump.once("close", lost);
    jump.forwardOut("127.0.0.1", 0, target.address, target.port, (error, channel) => {
      jump.removeListener("close", lost);
      if (error) reject(new Transient(`the jump host can't reach it: ${error.message}`));
      else resolve(channel);
    });
  });
}

async function logIn(
  target: UnknownHost & { hostKey?: string },
  judge: JudgeHostKey,
  milliseconds: number,
  signal?: AbortSignal,
  through?: ClientChannel,
): Promise<Dialed> {
  const { Client, utils } = (await import("ssh2")).default;
  const parsed = target.privateKey ? utils.parseKey(target.privateKey) : undefined;
  // the message names the kind of fault only, never the key
  if (parsed instanceof Error) throw new UnreadableKey(target, parsed.message);
  const client = new Client();
  const close = () => client.end();
  let refused: Error | undefined;
  let agentFault = "";
  const config: ConnectConfig = {
    host: target.address,
    port: target.port,
    sock: through,
    // first contact does not log in, but ssh2 requires a name
    username: target.user || "nobody",
    privateKey: target.privateKey,
    agent: target.agentSocket,
    readyTimeout: milliseconds,
    keepaliveInterval: KEEPALIVE_MILLISECONDS,
    keepaliveCountMax: KEEPALIVE_MISSES,
    algorithms: { serverHostKey: algorithmsOf(target.hostKey) },
    hostVerifier: (key: Buffer) => {
      refused = judge(formatHostKey(key));
      return refused === undefined;
    },
  };
  return new Promise<Dialed>((resolve, reject) => {
    const abort = () => fail(abortError(signal!));
    const fail = (error: Error) => {
      signal?.removeEventListener("abort", abort);
      client.destroy();
      reject(error);
    };
    signal?.addEventListener("abort", abort, { once: true });
    client.on("error", (error: Error & { level?: string }) => {
      if (refused) fail(refused);
      else if (error.level === "agent") agentFault = `, the SSH agent says ${error.message}`;
      else if (error.level === "client-authentication") {
        fail(new AuthenticationRefused(target, `it accepts none of the keys${agentFault}`));
      } else if (/no matching host key format/i.test(error.message) && target.hostKey) {
        fail(judge("of another type") ?? error);
      } else fail(new Transient(explain(error)));
    });
    client.on("close", () => fail(refused ?? new Transient("it closed the connection during the login")));
    client.once("ready", () => {
      signal?.removeEventListener("abort", abort);
      resolve({ client, close });
    });
    try {
      client.connect(config);
      // the handshake and each command are many small packets, and Nagle's algorithm delays each by 40 ms
      client.setNoDelay(true);
    } catch (error) {
      fail(error as Error);
    }
  });
}

const WORDS: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ETIMEDOUT: "no answer",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to its network",
  ENOTFOUND: "its name can't be resolved",
  EAI_AGAIN: "its name can't be resolved now",
};

function explain(error: Error & { level?: string; code?: string }): string {
  if (error.level === "client-timeout") return "no answer";
  return (error.code && WORDS[error.code]) || error.message;
}

/** Returns the signature algorithms of a pinned key's type: a server with several keys must present this one. */
function algorithmsOf(hostKey: string | undefined): AlgorithmList<ServerHostKeyAlgorithm> {
  // at first contact: ssh2's order, which begins with ed25519, without signatures that use SHA-1
  if (!hostKey) return { append: [], prepend: [], remove: "ssh-rsa" };
  const type = (hostKey.trim().split(/\s+/)[0] ?? "") as ServerHostKeyAlgorithm;
  return type === "ssh-rsa" ? ["rsa-sha2-512", "rsa-sha2-256", type] : [type];
}

/** Returns a key in wire format as "type base64". */
function formatHostKey(wire: Buffer): string {
  const length = wire.readUInt32BE(0);
  return `${wire.subarray(4, 4 + length).toString("ascii")} ${wire.toString("base64")}`;
}

/** Returns whether two keys in the form "type base64 comment" are the same key. */
function isSameHostKey(one: string, other: string): boolean {
  const key = (text: string) => text.trim().split(/\s+/).slice(0, 2).join(" ");
  return key(one) === key(other);
}
