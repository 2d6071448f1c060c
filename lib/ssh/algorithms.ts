import type { Algorithms, BaseAgent, ParsedKey, ServerHostKeyAlgorithm } from "ssh2";
import { describeTarget, type UnknownHost } from "./target";

/** What stays of ssh2's own lists: nothing that uses SHA-1, MD5, CBC or RC4, whatever a later ssh2 has by default. */
const without = (remove: RegExp) => ({ append: [], prepend: [], remove: remove as never });

/**
 * Returns the algorithms that a connection may use.
 *
 * @param hostKey the pinned key, "type base64": a server with several keys must present the one of this type
 */
export function algorithmsFor(hostKey: string | undefined): Algorithms {
  const type = hostKey?.trim().split(/\s+/)[0] as ServerHostKeyAlgorithm | undefined;
  const pinnedTypes: ServerHostKeyAlgorithm[] =
    type === "ssh-rsa" ? ["rsa-sha2-512", "rsa-sha2-256"] : type ? [type] : [];
  return {
    kex: without(/sha1$/),
    cipher: without(/cbc|arcfour/),
    hmac: without(/sha1|md5|ripemd/),
    // at first contact: ssh2's order, which begins with ed25519
    serverHostKey: type === undefined ? without(/^ssh-rsa$/) : pinnedTypes,
  };
}

const NO_SHA1 =
  "the server asks for a signature with SHA-1 (ssh-rsa), and foresail makes none; " +
  "use an ed25519 key, or a server that accepts rsa-sha2-256";
/** What ssh2 passes for an RSA signature to a server that accepts no other one. */
const isSha1 = (hash: string | undefined) => hash === "sha1";

/** Makes a private key refuse to sign with SHA-1, which ssh2 does for a server that announces no other algorithm. */
export function refuseSha1(parsed: ParsedKey): ParsedKey {
  // a file may have several keys, of which ssh2 uses the first; its types leave that out
  const key = [parsed].flat()[0]!;
  const sign = key.sign.bind(key);
  // ssh2 takes an error as the answer
  key.sign = (data, hash) => (isSha1(hash) ? (new Error(NO_SHA1) as never) : sign(data, hash));
  return key;
}

/** Makes an SSH agent refuse to sign with SHA-1. */
export function refuseSha1OfAgent(agent: BaseAgent): BaseAgent {
  const sign = agent.sign.bind(agent) as (...args: unknown[]) => void;
  agent.sign = (...args: unknown[]) => {
    const [, , options, answer] = args as [unknown, unknown, { hash?: string }, (error: Error) => void];
    if (isSha1(options.hash)) answer(new Error(NO_SHA1));
    else sign(...args);
  };
  return agent;
}

/** Returns why a handshake found no common algorithm, with what the machine has to offer; undefined for other faults. */
export function noCommonAlgorithm(target: UnknownHost, message: string): string | undefined {
  const kind = /no matching (?:\S->\S )?(.+)$/i.exec(message)?.[1];
  const settings: Record<string, string> = {
    "key exchange algorithm":
      "KexAlgorithms curve25519-sha256,ecdh-sha2-nistp256,diffie-hellman-group16-sha512",
    cipher: "Ciphers aes256-gcm@openssh.com,aes128-ctr,aes256-ctr",
    MAC: "MACs hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com",
    "host key format": "HostKeyAlgorithms ssh-ed25519,rsa-sha2-512,rsa-sha2-256",
  };
  const setting = kind === undefined ? undefined : settings[kind];
  if (setting === undefined) return undefined;
  return (
    `${describeTarget(target)} offers no ${kind} that foresail accepts: SHA-1, MD5, CBC and RC4 are refused. ` +
    `Allow one of these in its /etc/ssh/sshd_config and restart sshd: ${setting}`
  );
}
