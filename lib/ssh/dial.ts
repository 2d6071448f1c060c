import type {
  AgentAuthMethod,
  Client,
  ClientChannel,
  ConnectConfig,
  NoAuthMethod,
  PublicKeyAuthMethod,
} from "ssh2";
import { abortError } from "../abort";
import { Transient } from "../wait";
import { displayLine } from "../text/display";
import { algorithmsFor, noCommonAlgorithm, refuseSha1, refuseSha1OfAgent } from "./algorithms";
import {
  AccountRefused,
  AuthenticationRefused,
  HostKeyMismatch,
  NoCommonAlgorithm,
  TooManyKeys,
  UnreadableKey,
} from "./errors";
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
 * @throws HostKeyMismatch, NoCommonAlgorithm, AuthenticationRefused, TooManyKeys, AccountRefused, UnreadableKey; Transient
 *   with the reason for everything that a retry
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
  const { Client, createAgent, utils } = (await import("ssh2")).default;
  const parsed = target.privateKey ? utils.parseKey(target.privateKey) : undefined;
  // the message names the kind of fault only, never the key
  if (parsed instanceof Error) throw new UnreadableKey(target, parsed.message);
  // first contact does not log in, but ssh2 requires a name
  const username = target.user || "nobody";
  const methods: (NoAuthMethod | PublicKeyAuthMethod | AgentAuthMethod)[] = [{ type: "none", username }];
  if (parsed) methods.push({ type: "publickey", username, key: refuseSha1(parsed) });
  const { agentSocket } = target;
  if (agentSocket)
    methods.push({ type: "agent", username, agent: refuseSha1OfAgent(createAgent(agentSocket)) });
  const client = new Client();
  const close = () => client.end();
  let refused: Error | undefined;
  let agentFault = "";
  let banner = "";
  let isEnding = false;
  const config: ConnectConfig = {
    host: target.address,
    port: target.port,
    sock: through,
    username,
    authHandler: methods,
    readyTimeout: milliseconds,
    keepaliveInterval: KEEPALIVE_MILLISECONDS,
    keepaliveCountMax: KEEPALIVE_MISSES,
    algorithms: algorithmsFor(target.hostKey),
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
    client.on("banner", (text) => (banner = text));
    client.on("error", (error: Error & { level?: string }) => {
      if (refused) fail(refused);
      else if (/too many authentication failures/i.test(error.message)) {
        isEnding = true;
        void keysOfAgent(target).then((keys) => fail(new TooManyKeys(target, keys)));
      } else if (error.level === "agent") agentFault = `, the SSH agent says ${error.message}`;
      else if (error.level === "client-authentication") {
        const said = banner.trim() ? `; it says: ${wordsOf(banner)}` : "";
        // a key that refuses SHA-1 says so here before ssh2 gives up
        const why = /SHA-1/.test(error.message) ? error.message : `it accepts none of the keys${agentFault}`;
        fail(new AuthenticationRefused(target, `${why}${said}`));
      } else if (/no matching host key format/i.test(error.message) && target.hostKey) {
        fail(judge("of another type, or one that signs with SHA-1 only") ?? error);
      } else if (noCommonAlgorithm(target, error.message)) {
        fail(new NoCommonAlgorithm(noCommonAlgorithm(target, error.message)!));
      } else fail(new Transient(explain(error)));
    });
    client.on("close", () => {
      // sshd accepts the key of an account that may not log in, says why, and hangs up
      if (/expired/i.test(banner)) refused ??= new AccountRefused(target, wordsOf(banner));
      const said = banner.trim() ? `, after the words: ${wordsOf(banner)}` : "";
      if (!isEnding) fail(refused ?? new Transient(`it closed the connection during the login${said}`));
    });
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

/** Returns the end of a banner on one line: it may be a page, and the reason comes last. */
const wordsOf = (banner: string): string => displayLine(banner.trim().slice(-300));

/** Returns how many keys the SSH agent offers; undefined without one, or when it does not answer. */
async function keysOfAgent({ privateKey, agentSocket }: UnknownHost): Promise<number | undefined> {
  if (privateKey !== undefined || agentSocket === undefined) return undefined;
  const { createAgent } = (await import("ssh2")).default;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), AGENT_MILLISECONDS);
    createAgent(agentSocket).getIdentities((error, keys) => {
      clearTimeout(timer);
      resolve(error ? undefined : keys?.length);
    });
  });
}

const AGENT_MILLISECONDS = 2_000;

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
