/** The pinned host key of a connection: reading it, the algorithms it allows, and comparing it. Pure. */
import { createHash } from "node:crypto";

interface PinnedHostKey {
  readonly blob: Buffer;
  /** Server host key algorithms to offer, so that the server shows the key that is pinned. */
  readonly algorithms: readonly string[];
}

/**
 * Reads a public key in the form of `authorized_keys` or `known_hosts` (`ssh-ed25519 AAAA… comment`).
 * @throws Error when there is no key in the text
 */
export function parseHostKey(text: string): PinnedHostKey {
  for (const line of text.split("\n")) {
    if (line.trim().startsWith("#")) continue;
    const words = line.trim().split(/\s+/);
    for (const [index, type] of words.entries()) {
      const blob = Buffer.from(words[index + 1] ?? "", "base64");
      if (typeInBlob(blob) === type) return { blob, algorithms: algorithmsOf(type) };
    }
  }
  throw new Error('hostKey is not a public key: give it as in known_hosts, "ssh-ed25519 AAAA…"');
}

/** A key's fingerprint in OpenSSH's form. */
export function fingerprint(blob: Buffer): string {
  return `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;
}

function typeInBlob(blob: Buffer): string | undefined {
  if (blob.length < 8) return undefined;
  const length = blob.readUInt32BE(0);
  return length > 0 && length + 4 < blob.length ? blob.toString("utf8", 4, 4 + length) : undefined;
}

function algorithmsOf(type: string): string[] {
  return type === "ssh-rsa" ? ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"] : [type];
}
